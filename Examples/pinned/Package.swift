// swift-tools-version:6.2
// Fetches a page of a server whose keys are pinned. The trait brings connections, and no database.
import PackageDescription

let package = Package(
    name: "pinned",
    platforms: [.macOS(.v26)],
    dependencies: [.package(name: "signet", path: "../..", traits: ["Connections"])],
    targets: [
        .executableTarget(
            name: "pinned",
            dependencies: [.product(name: "SignetPinning", package: "signet")])
    ])
