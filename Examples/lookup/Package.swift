// swift-tools-version:6.2
// Looks people up over pinned connections and remembers what it saw. The trait takes SwiftNIO, swift-certificates and GRDB in, and no
// server.
import PackageDescription

let package = Package(
    name: "lookup",
    platforms: [.macOS(.v26)],
    dependencies: [.package(name: "signet", path: "../..", traits: ["Client"])],
    targets: [
        .executableTarget(
            name: "lookup",
            dependencies: [.product(name: "SignetClient", package: "signet")])
    ])
