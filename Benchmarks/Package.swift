// swift-tools-version:6.2
// Benchmarks are a package of their own: what they need stays out of the graph of those who use Signet.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

func signet(_ name: String) -> Target.Dependency { .product(name: name, package: "signet") }

let package = Package(
    name: "signet-benchmarks",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "signet", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    ],
    targets: [
        // MARK: Counters under the C library
        .target(name: "CAllocations", path: "Sources/CAllocations"),
        .target(name: "CSyncs", path: "Sources/CSyncs"),

        // MARK: A peer: OpenSSL with its key set once
        .target(name: "CKeyedGCM", path: "Sources/CKeyedGCM", linkerSettings: [.linkedLibrary("crypto")]),

        // MARK: Timing
        .target(name: "Measuring", path: "Sources/Measuring", swiftSettings: strict),

        // MARK: A directory in memory
        .target(
            name: "PaperDirectory",
            dependencies: [
                signet("SignetVerifier"), crypto,
            ],
            path: "Sources/PaperDirectory", swiftSettings: strict),

        // MARK: Programs
        .executableTarget(
            name: "verify-bench",
            dependencies: [
                "CAllocations", "Measuring", "PaperDirectory", signet("SignetVerifier"), crypto,
            ],
            path: "Sources/verify-bench", swiftSettings: strict),
        .executableTarget(
            name: "audit-bench",
            dependencies: ["Measuring", signet("SignetVerifier")],
            path: "Sources/audit-bench", swiftSettings: strict),
        .executableTarget(
            name: "frame-bench",
            dependencies: ["CKeyedGCM", "Measuring", signet("SignetFormats"), signet("SignetCalls"), crypto],
            path: "Sources/frame-bench", swiftSettings: strict),
        .executableTarget(
            name: "share-bench", dependencies: ["Measuring", signet("SignetFormats"), crypto],
            path: "Sources/share-bench", swiftSettings: strict),
        .executableTarget(
            name: "notes-bench",
            dependencies: [
                "Measuring", "PaperDirectory", signet("SignetVerifier"), signet("SignetFormats"),
                signet("SignetProtocols"), crypto,
            ],
            path: "Sources/notes-bench", swiftSettings: strict),
        .executableTarget(
            name: "pin-bench",
            dependencies: [
                "Measuring", signet("SignetPinning"), signet("SignetVerifier"), signet("SignetClient"),
                signet("PinScenarios"), crypto,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Sources/pin-bench", swiftSettings: strict),
        .executableTarget(
            name: "book-bench",
            dependencies: [
                "Measuring", signet("SignetVerifier"), signet("SignetClient"),
            ],
            path: "Sources/book-bench", swiftSettings: strict),
        .executableTarget(
            name: "append-bench",
            dependencies: ["CSyncs", "Measuring", signet("SignetVerifier"), signet("SignetServer")],
            path: "Sources/append-bench", swiftSettings: strict),
        .executableTarget(
            name: "directory-bench",
            dependencies: [
                signet("SignetVerifier"), signet("SignetServer"), crypto, logging,
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
            ],
            path: "Sources/directory-bench", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
