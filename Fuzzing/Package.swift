// swift-tools-version:6.2
// Fuzzing is a package of its own: it is built with counters of the paths taken, which nothing else is to have.
// `Scripts/fuzz --build` builds it; `swift build` alone does not know where libFuzzer is.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

func signet(_ name: String) -> Target.Dependency { .product(name: name, package: "signet") }

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")

let package = Package(
    name: "signet-fuzzing",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "signet", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
    ],
    targets: [
        // MARK: The fuzzer of the compiler
        .systemLibrary(name: "CLibFuzzer", path: "Sources/CLibFuzzer"),

        // MARK: Programs
        .executableTarget(
            name: "signet-fuzz",
            dependencies: [
                "CLibFuzzer", crypto, signet("SignetVerifier"), signet("SignetFormats"), signet("SignetProtocols"),
            ],
            path: "Sources/signet-fuzz", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
