// swift-tools-version:6.2
// Verifies answers of a directory, and fetches nothing but swift-crypto for it: the line with `traits: []` is what does that.
import PackageDescription

let package = Package(
    name: "verify",
    platforms: [.macOS(.v26)],
    dependencies: [.package(name: "signet", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "verify",
            dependencies: [.product(name: "SignetVerifier", package: "signet")])
    ])
