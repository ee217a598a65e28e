// swift-tools-version:6.2
// Two people who write to each other from two terminals: the keys are verified in a log, the connection to it is pinned, and what
// carries the messages is a folder that anyone may read.
import PackageDescription

let package = Package(
    name: "chat",
    platforms: [.macOS(.v26)],
    dependencies: [.package(name: "signet", path: "../..", traits: ["Client"])],
    targets: [.executableTarget(name: "chat", dependencies: [.product(name: "Signet", package: "signet")])])
