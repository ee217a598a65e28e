// swift-tools-version:6.2
// A Hummingbird app that answers for itself and for a directory of Signet's, at one address.
import PackageDescription

let package = Package(
    name: "server",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "signet", path: "../..", traits: ["Server"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "server",
            dependencies: [
                .product(name: "SignetServer", package: "signet"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
            ])
    ])
