// swift-tools-version:6.2
// The house from the ground up. Arrows point down only: Tools → Client, Server, Audit → Protocols → Formats →
// CanonicalCoding. `Scripts/check-imports` holds every import to this picture.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// Field arithmetic is a hundred times slower without optimisation, so this is on in debug builds too, for what takes most of the tests' time.
let optimised: [SwiftSetting] = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// An app takes the traits that it needs, and fetches nothing else: none for verifying alone.
let connections = TargetDependencyCondition.when(traits: ["Connections"])
let client = TargetDependencyCondition.when(traits: ["Client"])
let server = TargetDependencyCondition.when(traits: ["Server"])
let tools = TargetDependencyCondition.when(traits: ["Tools"])

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let sodium = Target.Dependency.target(name: "CSodium", condition: .when(platforms: [.linux]))
let logging = Target.Dependency.product(name: "Logging", package: "swift-log", condition: client)
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio", condition: connections),
    .product(name: "NIOPosix", package: "swift-nio", condition: connections),
    .product(name: "NIOHTTP1", package: "swift-nio", condition: connections),
    .product(name: "NIOWebSocket", package: "swift-nio", condition: connections),
    .product(name: "NIOTLS", package: "swift-nio", condition: connections),
    .product(name: "NIOSSL", package: "swift-nio-ssl", condition: connections),
    .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: connections),
]
let certificates: [Target.Dependency] = [
    .product(name: "X509", package: "swift-certificates", condition: connections),
    .product(name: "SwiftASN1", package: "swift-asn1", condition: connections),
]
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift", condition: client)
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser", condition: tools)

/// `SIGNET_CORE_ONLY=1` leaves out everything above the Protocols, and with it every dependency but
/// swift-crypto: for work on formats and rules, and for `Scripts/removals`.
let isCoreOnly = Context.environment["SIGNET_CORE_ONLY"] != nil

let coreDependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2")
]

let runtimeDependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
    .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.1"),
    .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
]

let coreTargets: [Target] = [
    // MARK: Support
    .systemLibrary(
        name: "CSodium", path: "Sources/Support/CSodium", pkgConfig: "libsodium",
        providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    .systemLibrary(
        name: "CLibCrypto", path: "Sources/Support/CLibCrypto", pkgConfig: "libcrypto",
        providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
        name: "COpus", path: "Sources/Support/COpus", pkgConfig: "opus",
        providers: [.apt(["libopus-dev"]), .brew(["opus"])]),
    .systemLibrary(name: "CPKCS11", path: "Sources/Support/CPKCS11"),
    .target(name: "CivilTime", path: "Sources/Support/CivilTime", swiftSettings: strict),
    .target(name: "Platform", path: "Sources/Support/Platform", swiftSettings: strict),
    .target(
        name: "Telemetry", dependencies: ["Platform"], path: "Sources/Support/Telemetry", swiftSettings: strict),
    .target(
        name: "SecretMemory", dependencies: ["Platform"], path: "Sources/Support/SecretMemory", swiftSettings: optimised
    ),

    // MARK: Formats: other people's specifications, pure, no I/O
    .target(
        name: "CanonicalCoding", path: "Sources/Formats/CanonicalCoding",
        swiftSettings: optimised),
    .target(
        name: "TransparencyLog", dependencies: ["CanonicalCoding", crypto],
        path: "Sources/Formats/TransparencyLog", swiftSettings: optimised),
    .target(
        name: "VRF",
        dependencies: [
            "SecretMemory", "CanonicalCoding", crypto,
            .target(name: "CSodium", condition: .when(platforms: [.linux])),
        ],
        path: "Sources/Formats/VRF", swiftSettings: optimised),
    .target(
        name: "VerifiableMap", dependencies: ["CanonicalCoding", crypto],
        path: "Sources/Formats/VerifiableMap", swiftSettings: optimised),
    .target(
        name: "DIDKey", dependencies: ["CanonicalCoding", crypto],
        path: "Sources/Formats/DIDKey", swiftSettings: strict),
    .target(
        name: "QRCode", dependencies: ["CanonicalCoding"], path: "Sources/Formats/QRCode", swiftSettings: optimised),
    .target(
        name: "MulticastDNS", dependencies: ["CanonicalCoding"], path: "Sources/Formats/MulticastDNS",
        swiftSettings: optimised),
    .target(
        name: "PassBundle", dependencies: ["CanonicalCoding", "StrictJSON", crypto], path: "Sources/Formats/PassBundle",
        swiftSettings: optimised),
    .target(
        name: "SFrame", dependencies: ["CanonicalCoding", crypto, cryptoExtras],
        path: "Sources/Formats/SFrame", swiftSettings: optimised),
    .target(
        name: "STOMP", dependencies: ["CanonicalCoding"], path: "Sources/Formats/STOMP", swiftSettings: strict),
    .target(
        name: "S3Requests", dependencies: ["CivilTime", crypto], path: "Sources/Formats/S3Requests",
        swiftSettings: optimised),
    .target(
        name: "SecureCell", dependencies: ["SecretMemory", "CanonicalCoding", crypto, cryptoExtras, sodium],
        path: "Sources/Formats/SecureCell", swiftSettings: optimised),
    .target(
        name: "OPAQUE", dependencies: ["SecretMemory", sodium, crypto], path: "Sources/Formats/OPAQUE",
        swiftSettings: optimised),
    .target(
        name: "SecretSharing", dependencies: ["SecretMemory", "CanonicalCoding", crypto],
        path: "Sources/Formats/SecretSharing", swiftSettings: optimised),
    .target(name: "StrictJSON", path: "Sources/Formats/StrictJSON", swiftSettings: optimised),
    .target(
        name: "JOSE", dependencies: ["CanonicalCoding", "StrictJSON", crypto], path: "Sources/Formats/JOSE",
        swiftSettings: strict),
    .target(
        name: "SelectiveDisclosure", dependencies: ["CanonicalCoding", "StrictJSON", "JOSE", "DIDKey", crypto],
        path: "Sources/Formats/SelectiveDisclosure", swiftSettings: strict),
    .target(name: "Inflation", path: "Sources/Formats/Inflation", swiftSettings: optimised),
    .target(
        name: "TokenStatusList", dependencies: ["CanonicalCoding", "StrictJSON", "JOSE", "Inflation", crypto],
        path: "Sources/Formats/TokenStatusList", swiftSettings: strict),
    .target(name: "CBOR", dependencies: ["CanonicalCoding"], path: "Sources/Formats/CBOR", swiftSettings: optimised),
    .target(
        name: "MobileDocument", dependencies: ["CivilTime", "CBOR", "JOSE", crypto],
        path: "Sources/Formats/MobileDocument", swiftSettings: strict),

    // MARK: Protocols: our rules as values; no socket, file, clock or global
    .target(
        name: "KeyTransparency",
        dependencies: ["CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap", crypto],
        path: "Sources/Protocols/KeyTransparency", swiftSettings: strict),
    .target(
        name: "KeyPinning", dependencies: ["CivilTime", "CanonicalCoding", crypto],
        path: "Sources/Protocols/KeyPinning", swiftSettings: strict),
    .target(
        name: "SignetAPI",
        dependencies: [
            "CanonicalCoding", "TransparencyLog", "VRF", "KeyTransparency", "KeyPinning", crypto,
        ],
        path: "Sources/Protocols/SignetAPI", swiftSettings: strict),
    .target(
        name: "DeviceIdentity", dependencies: ["CanonicalCoding", "KeyTransparency", crypto],
        path: "Sources/Protocols/DeviceIdentity", swiftSettings: strict),
    .target(
        name: "RelyingParty", dependencies: ["CanonicalCoding", "DeviceIdentity", crypto],
        path: "Sources/Protocols/RelyingParty", swiftSettings: strict),
    .target(
        name: "SocialRecovery",
        dependencies: [
            "SecretMemory", "CanonicalCoding", "TransparencyLog", "SecretSharing", "KeyTransparency", "DeviceIdentity",
            crypto,
        ],
        path: "Sources/Protocols/SocialRecovery", swiftSettings: strict),
    .target(
        name: "NoteLog", dependencies: ["CanonicalCoding", "VerifiableMap", "KeyTransparency", crypto],
        path: "Sources/Protocols/NoteLog", swiftSettings: strict),
    .target(
        name: "NotesAPI", dependencies: ["CanonicalCoding", "KeyTransparency", "NoteLog", "SignetAPI", crypto],
        path: "Sources/Protocols/NotesAPI", swiftSettings: strict),
    .target(
        name: "SealedNotes",
        dependencies: ["SecretMemory", "CanonicalCoding", "SecureCell", "KeyTransparency", "NoteLog", crypto],
        path: "Sources/Protocols/SealedNotes", swiftSettings: strict),
    .target(
        name: "SealedMessages",
        dependencies: ["CanonicalCoding", "KeyTransparency", "NoteLog", "SealedNotes", crypto],
        path: "Sources/Protocols/SealedMessages", swiftSettings: strict),
    .target(
        name: "Presentation",
        dependencies: [
            "CanonicalCoding", "StrictJSON", "JOSE", "DIDKey", "SelectiveDisclosure", "TokenStatusList", crypto,
        ],
        path: "Sources/Protocols/Presentation", swiftSettings: optimised),
    .target(
        name: "Credentials",
        dependencies: [
            "CanonicalCoding", "StrictJSON", "JOSE", "DIDKey", "SelectiveDisclosure", "TokenStatusList", crypto,
        ],
        path: "Sources/Protocols/Credentials", swiftSettings: strict),
    .target(
        name: "Meeting",
        dependencies: ["CanonicalCoding", "MulticastDNS", "SecretSharing", "KeyTransparency", crypto],
        path: "Sources/Protocols/Meeting", swiftSettings: strict),
    .target(
        name: "ContactMatching", dependencies: ["CanonicalCoding", "OPAQUE"],
        path: "Sources/Protocols/ContactMatching", swiftSettings: strict),
    .target(
        name: "Issuance", dependencies: ["CanonicalCoding", "StrictJSON", "JOSE", "Presentation", crypto],
        path: "Sources/Protocols/Issuance", swiftSettings: strict),
    .target(
        name: "CallSignalling", dependencies: ["CanonicalCoding", crypto],
        path: "Sources/Protocols/CallSignalling", swiftSettings: optimised),
    .target(
        name: "CallKeys", dependencies: ["CanonicalCoding", "SFrame", "CallSignalling", crypto, cryptoExtras],
        path: "Sources/Protocols/CallKeys", swiftSettings: optimised),

    .target(
        name: "LogFencing", dependencies: ["TransparencyLog"], path: "Sources/Protocols/LogFencing",
        swiftSettings: optimised),

    // MARK: Testing: numbers that repeat; imported by no library
    .target(
        name: "SeededRandomness", path: "Sources/Testing/SeededRandomness", swiftSettings: optimised),

    // MARK: Testing: whole calls in virtual time; imported by no library
    .target(
        name: "CallSimulation",
        dependencies: ["CanonicalCoding", "SFrame", "CallSignalling", "CallKeys", crypto, cryptoExtras],
        path: "Sources/Testing/CallSimulation", swiftSettings: optimised),
    // MARK: Testing: a directory on paper, a log whose owner breaks the rules, pushes of notes in which nothing is sealed
    .target(
        name: "ProtocolTesting",
        dependencies: [
            "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency", "KeyPinning", "SignetAPI",
            "NoteLog", "NotesAPI", crypto,
        ],
        path: "Sources/Testing/ProtocolTesting", swiftSettings: strict),

    // MARK: Testing: looks for secrets in everything that a server stores and sends; no library imports it
    .target(
        name: "CanaryScan", dependencies: ["SecureCell", "Inflation", crypto], path: "Sources/Testing/CanaryScan",
        swiftSettings: optimised),

    // MARK: Tests: one target a module
    .testTarget(name: "CivilTimeTests", dependencies: ["CivilTime"], swiftSettings: strict),
    .testTarget(
        name: "CanonicalCodingTests", dependencies: ["SeededRandomness", "CanonicalCoding", sodium, crypto],
        swiftSettings: strict),
    .testTarget(
        name: "TransparencyLogTests", dependencies: ["SeededRandomness", "CanonicalCoding", "TransparencyLog", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "VRFTests",
        dependencies: [
            "SeededRandomness", "CanonicalCoding", "VRF",
            .target(name: "CSodium", condition: .when(platforms: [.linux])),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "VerifiableMapTests", dependencies: ["SeededRandomness", "CanonicalCoding", "VerifiableMap", crypto],
        swiftSettings: optimised),
    .testTarget(
        name: "S3RequestsTests", dependencies: ["SeededRandomness", "S3Requests"],
        swiftSettings: strict),
    .testTarget(
        name: "DIDKeyTests", dependencies: ["CanonicalCoding", "DIDKey", crypto], swiftSettings: strict),
    .testTarget(name: "StrictJSONTests", dependencies: ["SeededRandomness", "StrictJSON"], swiftSettings: strict),
    .testTarget(
        name: "JOSETests", dependencies: ["CanonicalCoding", "StrictJSON", "JOSE", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "SelectiveDisclosureTests",
        dependencies: [
            "SeededRandomness", "CanonicalCoding", "StrictJSON", "JOSE", "DIDKey", "SelectiveDisclosure", crypto,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "TokenStatusListTests",
        dependencies: ["SeededRandomness", "CanonicalCoding", "StrictJSON", "JOSE", "TokenStatusList", crypto],
        swiftSettings: strict),
    .testTarget(name: "CBORTests", dependencies: ["SeededRandomness", "CBOR"], swiftSettings: strict),
    .testTarget(
        name: "MobileDocumentTests",
        dependencies: ["SeededRandomness", "CanonicalCoding", "CBOR", "JOSE", "MobileDocument", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "PresentationTests",
        dependencies: [
            "SeededRandomness", "CanonicalCoding", "StrictJSON", "JOSE", "DIDKey", "SelectiveDisclosure",
            "TokenStatusList", "Presentation", crypto,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "CredentialsTests",
        dependencies: [
            "CanonicalCoding", "StrictJSON", "JOSE", "SelectiveDisclosure", "TokenStatusList", "Credentials", crypto,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "MeetingTests",
        dependencies: [
            "SeededRandomness", "CanonicalCoding", "MulticastDNS", "SecretSharing", "KeyTransparency", "Meeting",
            "QRCode",
            crypto,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "MulticastDNSTests", dependencies: ["SeededRandomness", "CanonicalCoding", "MulticastDNS"],
        swiftSettings: strict),
    .testTarget(
        name: "ContactMatchingTests", dependencies: ["SeededRandomness", "OPAQUE", "ContactMatching"],
        swiftSettings: strict),
    .testTarget(
        name: "IssuanceTests",
        dependencies: ["SeededRandomness", "CanonicalCoding", "StrictJSON", "JOSE", "Issuance", crypto],
        swiftSettings: strict),
    .testTarget(name: "QRCodeTests", dependencies: ["QRCode"], swiftSettings: strict),
    .testTarget(
        name: "SFrameTests", dependencies: ["SeededRandomness", "CanonicalCoding", "SFrame", crypto],
        swiftSettings: strict),
    .testTarget(name: "STOMPTests", dependencies: ["SeededRandomness", "STOMP"], swiftSettings: strict),
    // Its model of leaders and databases explores hundreds of thousands of states.
    .testTarget(
        name: "LogFencingTests", dependencies: ["TransparencyLog", "LogFencing"], swiftSettings: optimised),
    .testTarget(
        name: "CallSignallingTests", dependencies: ["SeededRandomness", "CanonicalCoding", "CallSignalling", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "CallKeysTests",
        dependencies: [
            "SeededRandomness", "CanonicalCoding", "SFrame", "CallSignalling", "CallKeys", crypto, cryptoExtras,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "CallSimulationTests",
        dependencies: ["CanonicalCoding", "CallSignalling", "CallKeys", "CallSimulation"], swiftSettings: strict),
    .testTarget(
        name: "SecureCellTests",
        dependencies: ["SeededRandomness", "CanonicalCoding", "SecureCell", crypto, cryptoExtras],
        swiftSettings: strict),
    .testTarget(
        name: "OPAQUETests", dependencies: ["SeededRandomness", "CanonicalCoding", "OPAQUE", sodium, crypto],
        swiftSettings: strict),
    .testTarget(
        name: "CanaryScanTests",
        dependencies: ["SeededRandomness", "CanonicalCoding", "SecureCell", "CanaryScan", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "SecretSharingTests",
        dependencies: ["SecretMemory", "SeededRandomness", "CanonicalCoding", "SecretSharing", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "SealedNotesTests",
        dependencies: [
            "SeededRandomness",
            "CanonicalCoding", "TransparencyLog", "VerifiableMap", "SecureCell", "KeyTransparency",
            "ProtocolTesting", "NoteLog", "SealedNotes", "SealedMessages", crypto,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "KeyTransparencyTests",
        dependencies: [
            "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency", "ProtocolTesting",
            crypto, sodium,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "AuditTests", dependencies: ["CanonicalCoding", "TransparencyLog", "KeyTransparency", "ProtocolTesting"],
        swiftSettings: strict),
    .testTarget(
        name: "KeyPinningTests", dependencies: ["SeededRandomness", "CanonicalCoding", "KeyPinning", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "SocialRecoveryTests",
        dependencies: [
            "SecretMemory", "SeededRandomness",
            "CanonicalCoding", "SecretSharing", "KeyTransparency", "DeviceIdentity", "SocialRecovery", crypto,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "RelyingPartyTests", dependencies: ["DeviceIdentity", "RelyingParty", crypto], swiftSettings: strict),
    .testTarget(
        name: "DeviceIdentityTests",
        dependencies: ["CanonicalCoding", "VRF", "KeyTransparency", "DeviceIdentity", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "SignetAPITests",
        dependencies: [
            "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency", "ProtocolTesting",
            "KeyPinning", "SignetAPI", crypto,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "NotesAPITests",
        dependencies: [
            "CanonicalCoding", "TransparencyLog", "VerifiableMap", "KeyTransparency", "NoteLog", "NotesAPI", crypto,
        ],
        swiftSettings: strict),
]

/// Formats and Protocols that stand on another package than swift-crypto.
let certificateTargets: [Target] = [
    .target(
        name: "CryptographicMessages",
        dependencies: [
            "CivilTime", .product(name: "SwiftASN1", package: "swift-asn1", condition: connections),
        ],
        path: "Sources/Formats/CryptographicMessages", swiftSettings: strict),
    .target(
        name: "CardSigning",
        dependencies: [
            "CanonicalCoding", "TransparencyLog", "CryptographicMessages", "KeyTransparency", "SignetAPI", crypto,
            cryptoExtras,
        ] + certificates,
        path: "Sources/Protocols/CardSigning", swiftSettings: strict),
    .testTarget(
        name: "CardSigningTests",
        dependencies: [
            "CanonicalCoding", "StrictJSON", "PassBundle", "CryptographicMessages", "TransparencyLog",
            "KeyTransparency", "SignetAPI",
            "ProtocolTesting", "CardSigning", "CardSigner", "SQLStores", "EngineLab", "Credentials",
            "SelectiveDisclosure", crypto, cryptoExtras,
        ] + certificates,
        swiftSettings: strict),
    .target(
        name: "PinnedChains", dependencies: ["KeyPinning"] + certificates,
        path: "Sources/Protocols/PinnedChains", swiftSettings: strict),
    .target(
        name: "CredentialChains", dependencies: ["StrictJSON", "JOSE", "KeyPinning", crypto] + certificates,
        path: "Sources/Protocols/CredentialChains", swiftSettings: strict),
    .testTarget(
        name: "CredentialChainsTests",
        dependencies: [
            "CanonicalCoding", "StrictJSON", "JOSE", "SelectiveDisclosure", "CBOR", "MobileDocument", "Presentation",
            "CredentialChains", crypto,
        ] + certificates,
        swiftSettings: strict),
    .testTarget(
        name: "PinnedChainsTests",
        dependencies: [
            "SeededRandomness",
            "KeyPinning", "PinnedChains", "PinScenarios", crypto,
            .product(name: "CryptoExtras", package: "swift-crypto"),
        ] + certificates,
        swiftSettings: strict),
]

let runtimeTargets: [Target] = [
    // MARK: Support: how files and connections are held
    .systemLibrary(
        name: "CSQLite", path: "Sources/Support/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
        name: "CPostgres", path: "Sources/Support/CPostgres", pkgConfig: "libpq",
        providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
        name: "DurableStorage",
        dependencies: [
            "Platform", sqlite, .target(name: "CSQLite", condition: .when(platforms: [.linux], traits: ["Client"])),
        ],
        path: "Sources/Support/DurableStorage", swiftSettings: strict),
    .target(
        name: "ConnectionLimits",
        dependencies: [
            "Platform", .product(name: "NIOCore", package: "swift-nio", condition: connections),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: connections),
            .product(name: "NIOTLS", package: "swift-nio", condition: connections),
        ],
        path: "Sources/Support/ConnectionLimits", swiftSettings: strict),

    // MARK: Client: what a person's device runs
    .target(
        name: "PinnedHTTP",
        dependencies: ["Platform", "CanonicalCoding", "KeyPinning", "PinnedChains", crypto] + nio + certificates,
        path: "Sources/Client/PinnedHTTP", swiftSettings: strict),
    .target(
        name: "SignetClient",
        dependencies: [
            "Platform", "SecretMemory", "PinnedHTTP", "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap",
            "KeyTransparency", "KeyPinning",
            "PinnedChains", "SignetAPI", "DurableStorage",
            .target(name: "CSodium", condition: .when(platforms: [.linux])),
            crypto, sqlite,
        ] + nio + certificates,
        path: "Sources/Client/SignetClient", swiftSettings: strict),
    .target(
        name: "NotesClient",
        dependencies: [
            "SecretMemory", "CanonicalCoding", "SecretSharing", "SecureCell", "OPAQUE", "VerifiableMap",
            "KeyTransparency", "NoteLog",
            "SealedNotes", "SocialRecovery", "NotesAPI", "PinnedHTTP", "SignetClient", "DurableStorage", crypto,
            sqlite,
        ],
        path: "Sources/Client/NotesClient", swiftSettings: strict),
    .target(
        name: "Signet",
        dependencies: [
            "SecretMemory", "KeyTransparency", "TransparencyLog", "KeyPinning", "PinnedChains", "NoteLog",
            "SealedNotes",
            "SealedMessages", "DeviceIdentity", "SocialRecovery", "SignetAPI", "NotesAPI", "PinnedHTTP", "SignetClient",
            "DeviceKeystores", "NotesClient", "SitesClient", "RecoveryClient", "StrictJSON", "JOSE",
            "SelectiveDisclosure", "Credentials", "CredentialChains", "Presentation", "Issuance", "PassBundle",
            "CryptographicMessages", "CardSigning", "CanonicalCoding", "Meeting", "MeetingClient", "ContactMatching",
            crypto,
        ],
        path: "Sources/Client/Signet", swiftSettings: strict),
    .target(
        name: "DeviceKeystores",
        dependencies: ["SecretMemory", "CanonicalCoding", "DeviceIdentity", "SignetAPI", "SignetClient", crypto],
        path: "Sources/Client/DeviceKeystores", swiftSettings: strict),
    .target(
        name: "SitesClient",
        dependencies: [
            "SecretMemory", "CanonicalCoding", "SecretSharing", "DeviceIdentity", "RelyingParty", "SocialRecovery",
            "StrictJSON", "JOSE", "SelectiveDisclosure", "TokenStatusList", "Presentation", "Issuance", "CardSigning",
            "PinnedHTTP",
            "SignetClient",
            crypto,
        ],
        path: "Sources/Client/SitesClient", swiftSettings: strict),
    .target(
        name: "SignalClient",
        dependencies: [
            "CanonicalCoding", "TransparencyLog", "STOMP", "KeyTransparency", "CallSignalling", "SignetAPI",
            "PinnedHTTP", "SignetClient",
        ],
        path: "Sources/Client/SignalClient", swiftSettings: strict),
    .target(
        name: "SFrameOpenSSL",
        dependencies: ["SFrame", crypto, .target(name: "CLibCrypto", condition: .when(platforms: [.linux]))],
        path: "Sources/Client/SFrameOpenSSL", swiftSettings: optimised),
    .target(
        name: "AudioCodec", dependencies: [.target(name: "COpus", condition: .when(platforms: [.linux]))],
        path: "Sources/Client/AudioCodec", swiftSettings: optimised),
    .target(
        name: "CallClient",
        dependencies: [
            "Platform", "CanonicalCoding", "STOMP", "KeyTransparency", "CallSignalling", "CallKeys", "SignetAPI",
            "PinnedHTTP",
            "SignetClient",
            "SignalClient", "SFrame", "SFrameOpenSSL", crypto,
            .product(name: "NIOCore", package: "swift-nio", condition: connections),
            .product(name: "NIOPosix", package: "swift-nio", condition: connections),
        ],
        path: "Sources/Client/CallClient", swiftSettings: strict),
    .target(
        name: "SignetCalls",
        dependencies: [
            "Platform", "KeyTransparency", "CallSignalling", "CallKeys", "SignetClient", "SignalClient", "CallClient",
            "Signet",
        ],
        path: "Sources/Client/SignetCalls", swiftSettings: strict),
    .target(
        name: "RecoveryClient",
        dependencies: [
            "CanonicalCoding", "SecretSharing", "KeyTransparency", "DeviceIdentity", "SocialRecovery", "SignetAPI",
            "PinnedHTTP", "SignetClient", "TransparencyLog", crypto,
        ],
        path: "Sources/Client/RecoveryClient", swiftSettings: strict),
    .target(
        name: "MeetingClient",
        dependencies: [
            "MulticastDNS", "Meeting", "ConnectionLimits",
            .product(name: "NIOCore", package: "swift-nio", condition: connections),
            .product(name: "NIOPosix", package: "swift-nio", condition: connections),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: connections),
        ],
        path: "Sources/Client/MeetingClient", swiftSettings: strict),
    .target(
        name: "LocalWeb",
        dependencies: [
            "SecretMemory", "CanonicalCoding", "TransparencyLog", "DIDKey", "QRCode", "ConnectionLimits", "Signet",
            "SignetCalls", "CallSignalling", "CallKeys", "Credentials", "SelectiveDisclosure", crypto,
            .product(name: "Logging", package: "swift-log", condition: server),
            .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
            .product(name: "HummingbirdCore", package: "hummingbird", condition: server),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
            .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: server),
            .product(name: "NIOCore", package: "swift-nio", condition: connections),
            .product(name: "NIOPosix", package: "swift-nio", condition: connections),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: connections),
        ],
        path: "Sources/Client/LocalWeb", resources: [.embedInCode("Assets")], swiftSettings: strict),

    // MARK: Audit: witness and auditor, which anyone runs
    .target(
        name: "LogWitness",
        dependencies: ["CanonicalCoding", "TransparencyLog", "DurableStorage", crypto, logging, sqlite] + nio,
        path: "Sources/Audit/LogWitness", swiftSettings: strict),
    .target(
        name: "LogAuditor",
        dependencies: [
            "Platform", "CanonicalCoding", "TransparencyLog", "KeyTransparency", "SignetAPI", "PinnedHTTP",
            "SignetClient",
            "ConnectionLimits", "Telemetry",
            .product(name: "NIOCore", package: "swift-nio", condition: connections),
            .product(name: "NIOPosix", package: "swift-nio", condition: connections),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: connections),
        ],
        path: "Sources/Audit/LogAuditor", swiftSettings: strict),

    // MARK: Server: what signetd and a site run
    .target(
        name: "LogEngine",
        dependencies: ["CanonicalCoding", "TransparencyLog", "KeyTransparency", "LogFencing", crypto],
        path: "Sources/Server/LogEngine", swiftSettings: strict),
    .target(
        name: "SharedLog",
        dependencies: [
            "CanonicalCoding", "TransparencyLog", "KeyTransparency", "LogFencing", "LogEngine", "DurableStorage",
            "SQLStores", "ObjectStores", crypto,
        ],
        path: "Sources/Server/SharedLog", swiftSettings: strict),
    .target(
        name: "SQLStores", dependencies: ["DurableStorage", sqlite], path: "Sources/Server/SQLStores",
        swiftSettings: strict),
    .target(
        name: "ObjectStores", dependencies: ["Platform", crypto],
        path: "Sources/Server/ObjectStores", swiftSettings: strict),
    .target(
        name: "PostgresStores",
        dependencies: [
            "LogFencing", "SQLStores", .target(name: "CPostgres", condition: .when(traits: ["Server"])),
        ],
        path: "Sources/Server/PostgresStores", swiftSettings: strict),
    .target(
        name: "S3Stores",
        dependencies: [
            "Platform", "S3Requests", "ObjectStores",
            .product(name: "AsyncHTTPClient", package: "async-http-client", condition: server),
            .product(name: "NIOCore", package: "swift-nio", condition: connections),
            .product(name: "NIOPosix", package: "swift-nio", condition: connections),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: connections),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: connections),
        ],
        path: "Sources/Server/S3Stores", swiftSettings: strict),
    .target(
        name: "KeyDirectory",
        dependencies: [
            "SecretMemory", "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency",
            "SignetAPI", "LogFencing", "LogEngine", "SQLStores", "SharedLog", "DurableStorage", "CPKCS11", crypto,
            logging,
        ],
        path: "Sources/Server/KeyDirectory", swiftSettings: strict),
    .target(
        name: "SiteServer",
        dependencies: [
            "Platform", "CanonicalCoding", "DeviceIdentity", "RelyingParty", "DurableStorage", "ConnectionLimits",
            "KeyPinning", "StrictJSON", "QRCode", "SelectiveDisclosure", "Presentation", "Credentials",
            "CredentialChains", crypto, logging,
            sqlite,
            .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
            .product(name: "HummingbirdCore", package: "hummingbird", condition: server),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
            .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: server),
        ] + nio,
        path: "Sources/Server/SiteServer", swiftSettings: strict),
    .target(
        name: "IssuerServer",
        dependencies: [
            "CanonicalCoding", "StrictJSON", "JOSE", "SelectiveDisclosure", "TokenStatusList", "Presentation",
            "Credentials", "Issuance", "DurableStorage", "SiteServer", crypto, logging, sqlite,
            .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
            .product(name: "HummingbirdCore", package: "hummingbird", condition: server),
        ],
        path: "Sources/Server/IssuerServer", swiftSettings: strict),
    .target(
        name: "SignalBroker",
        dependencies: ["CanonicalCoding", "STOMP", "CallSignalling", "DurableStorage", "SQLStores", crypto, sqlite],
        path: "Sources/Server/SignalBroker", swiftSettings: strict),
    .target(
        name: "FrameRelay",
        dependencies: [
            "CanonicalCoding", "CallSignalling", crypto,
            .product(name: "NIOCore", package: "swift-nio", condition: connections),
            .product(name: "NIOPosix", package: "swift-nio", condition: connections),
        ],
        path: "Sources/Server/FrameRelay", swiftSettings: optimised),
    .target(
        name: "NoteStore",
        dependencies: [
            "CanonicalCoding", "VerifiableMap", "KeyTransparency", "NoteLog", "NotesAPI", "DurableStorage", "SQLStores",
            "ObjectStores", crypto, logging,
        ],
        path: "Sources/Server/NoteStore", swiftSettings: strict),
    .target(
        name: "CardSigner", dependencies: ["KeyTransparency", "CardSigning", "DurableStorage", "SQLStores"],
        path: "Sources/Server/CardSigner", swiftSettings: strict),
    .target(
        name: "RecoveryStore", dependencies: ["KeyTransparency", "SignetAPI", "SQLStores", "DurableStorage", crypto],
        path: "Sources/Server/RecoveryStore", swiftSettings: strict),
    .target(
        name: "SignetServer",
        dependencies: [
            "Platform", "SecretMemory", "CivilTime", "CanonicalCoding", "OPAQUE", "TransparencyLog", "VRF",
            "VerifiableMap",
            "KeyTransparency",
            "KeyPinning", "PinnedChains",
            "NoteLog", "SignetAPI", "NotesAPI", "CardSigning", "LogEngine", "LogFencing", "SQLStores", "PostgresStores",
            "ObjectStores", "S3Requests", "S3Stores", "SharedLog", "KeyDirectory", "NoteStore",
            "RecoveryStore",
            "CardSigner", "LogWitness", "CallSignalling", "STOMP", "SignalBroker", "FrameRelay", "ConnectionLimits",
            "DurableStorage", "Telemetry", "StrictJSON", "JOSE", crypto,
            logging,
            .product(name: "JWTKit", package: "jwt-kit", condition: server),
            .product(name: "Tracing", package: "swift-distributed-tracing", condition: server),
            .product(name: "Metrics", package: "swift-metrics", condition: server),
            .product(name: "CoreMetrics", package: "swift-metrics", condition: server),
            .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
            .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras", condition: server),
            .product(name: "HummingbirdCore", package: "hummingbird", condition: server),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
            .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: server),
        ] + nio + certificates,
        path: "Sources/Server/SignetServer", swiftSettings: strict),

    // MARK: Testing: stores of objects that fail, the rules that every one keeps, and what is logged; imported by no library
    .target(
        name: "ObjectTesting", dependencies: ["ObjectStores", logging], path: "Sources/Testing/ObjectTesting",
        swiftSettings: strict),

    // MARK: Testing: programs as processes of their own; imported by no library
    .target(name: "ProcessTesting", path: "Sources/Testing/ProcessTesting", swiftSettings: strict),

    // MARK: Testing: real engines, the rules that both keep, and the same operations on both; imported by no library
    .target(
        name: "EngineLab", dependencies: ["SeededRandomness", "SQLStores", "PostgresStores"],
        path: "Sources/Testing/EngineLab", swiftSettings: strict),

    // MARK: Testing: fake clocks, faulty stores, lying servers; imported by no library
    .target(
        name: "PinScenarios", dependencies: ["KeyPinning", crypto] + nio + certificates,
        path: "Sources/Testing/PinScenarios", swiftSettings: strict),
    .target(
        name: "SignetTesting",
        dependencies: [
            "SecretMemory", "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency", "NoteLog",
            "SignetAPI",
            "NotesAPI", "LogEngine", "KeyDirectory", "SignetServer", "SignalBroker", "FrameRelay", "PinnedHTTP",
            "SignetClient", "SocialRecovery", "RecoveryStore", "RecoveryClient", crypto, logging,
        ],
        path: "Sources/Testing/SignetTesting", swiftSettings: strict),

    // MARK: Tools: argument parsing and printing only
    .target(
        name: "CommandWords", dependencies: [arguments], path: "Sources/Tools/CommandWords", swiftSettings: strict),
    // Not `signet`, of which a file system that knows no case would have `Signet` already.
    .executableTarget(
        name: "SignetCommand",
        dependencies: [
            "Platform", "SecretMemory", "CivilTime", "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap",
            "KeyTransparency", "KeyPinning", "PinnedChains", "NoteLog", "SealedNotes", "SecureCell", "SignetAPI",
            "NotesAPI", "PinnedHTTP", "Signet", "SignetCalls", "LocalWeb", "LogAuditor", "CallSignalling", "CallKeys",
            "AudioCodec",
            "CallSimulation", "DeviceIdentity", "DIDKey", "QRCode", "RelyingParty", "SocialRecovery",
            "SelectiveDisclosure", "StrictJSON", "JOSE", "Presentation", "Issuance",
            "Credentials", "Meeting", "ContactMatching", "CommandWords", arguments,
        ],
        path: "Sources/Tools/SignetCommand", swiftSettings: strict),
    .executableTarget(
        name: "signetd",
        dependencies: [
            "Platform", "CivilTime", "TransparencyLog", "KeyTransparency", "KeyPinning", "SignetAPI", "LogEngine",
            "KeyDirectory",
            "NoteStore",
            "LogFencing", "ObjectStores", "PostgresStores", "S3Stores", "SharedLog",
            "LogWitness", "SignalBroker", "RecoveryStore", "FrameRelay", "SignetServer", "DurableStorage",
            "ConnectionLimits", "CardSigning", "CardSigner", "CommandWords", arguments, logging,
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: tools),
            .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: tools),
        ],
        path: "Sources/Tools/signetd", swiftSettings: strict),
    .executableTarget(
        name: "signet-site",
        dependencies: [
            "DeviceIdentity", "RelyingParty", "SignetAPI", "SiteServer", "Presentation", "StrictJSON",
            arguments, logging,
        ],
        path: "Sources/Tools/signet-site", swiftSettings: strict),
    .executableTarget(
        name: "signet-issuer",
        dependencies: ["SignetAPI", "StrictJSON", "Issuance", "IssuerServer", arguments, logging],
        path: "Sources/Tools/signet-issuer", swiftSettings: strict),
    .executableTarget(
        name: "signet-vectors",
        dependencies: [
            "SecretMemory", "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency",
            "SignetAPI",
            "ProtocolTesting",
            "DIDKey",
            "SecretSharing",
            "SFrame",
            "SFrameOpenSSL",
            "SecureCell",
            "OPAQUE",
            "KeyPinning", "PinnedChains", "CallSignalling", "CallKeys",
            "StrictJSON", "JOSE", "SelectiveDisclosure", "TokenStatusList", "CBOR", "MobileDocument", "Presentation",
            "CredentialChains",
            crypto, cryptoExtras, arguments,
        ],
        path: "Sources/Tools/signet-vectors", swiftSettings: strict),
    .executableTarget(
        name: "signet-lying-server",
        dependencies: [
            "Platform", "SecretMemory", "SignetAPI", "SignetTesting", "PinScenarios", "SignetServer", "SignetClient",
            "KeyDirectory",
            "KeyTransparency", "KeyPinning", "FrameRelay", arguments, logging,
        ],
        path: "Sources/Tools/signet-lying-server", swiftSettings: strict),

    // MARK: Tests: one target a module
    .testTarget(name: "DurableStorageTests", dependencies: ["DurableStorage", sqlite], swiftSettings: strict),
    .testTarget(
        name: "LogEngineTests", dependencies: ["TransparencyLog", "LogEngine", "SignetTesting", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "SharedLogTests",
        dependencies: [
            "TransparencyLog", "LogFencing", "LogEngine", "SQLStores", "PostgresStores", "ObjectStores", "SharedLog",
            "ObjectTesting", "EngineLab", crypto,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "KeyDirectoryTests",
        dependencies: [
            "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency", "SignetAPI", "LogEngine",
            "LogFencing", "SQLStores", "ObjectStores", "SharedLog", "KeyDirectory", "DurableStorage", "EngineLab",
            "SignetTesting", crypto, logging, sqlite,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "NoteStoreTests",
        dependencies: [
            "VerifiableMap", "KeyTransparency", "NoteLog", "NotesAPI", "DurableStorage", "SQLStores", "NoteStore",
            "ObjectStores", "ObjectTesting", "EngineLab", "ProtocolTesting", crypto, logging, sqlite,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "SignetClientTests",
        dependencies: [
            "SecretMemory", "CanonicalCoding", "TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency",
            "KeyPinning",
            "PinnedChains", "SignetAPI", "LogEngine", "KeyDirectory", "SignetServer", "PinnedHTTP", "SignetClient",
            "DeviceKeystores", "SignetTesting", "ProtocolTesting",
            "NoteLog", "NotesClient", "SealedMessages", "DeviceIdentity", "SocialRecovery", "RecoveryClient", "Signet",
            "ContactMatching", "Meeting", "MeetingClient", "ConnectionLimits", "PinScenarios", crypto, logging, sqlite,
            .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
            .product(name: "HummingbirdCore", package: "hummingbird", condition: server),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
        ] + nio,
        swiftSettings: strict),
    .testTarget(
        name: "NotesClientTests",
        dependencies: [
            "SecretMemory", "CanonicalCoding", "KeyTransparency", "NoteLog", "NotesAPI", "SealedNotes", "SignetClient",
            "NotesClient",
            "ProtocolTesting", crypto,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "DeviceKeystoresTests",
        dependencies: ["SecretMemory", "DeviceIdentity", "SignetClient", "DeviceKeystores", "SignetTesting", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "SitesClientTests",
        dependencies: [
            "SecretMemory", "SecretSharing", "DeviceIdentity", "KeyTransparency", "KeyPinning", "PinnedChains",
            "PinScenarios",
            "RelyingParty", "SocialRecovery", "Issuance", "StrictJSON", "PinnedHTTP", "SignetClient", "DeviceKeystores",
            "SitesClient",
            "SiteServer", "DurableStorage", "ConnectionLimits", crypto,
            logging, sqlite,
        ] + nio,
        swiftSettings: strict),
    .testTarget(
        name: "SFrameOpenSSLTests", dependencies: ["SeededRandomness", "SFrame", "SFrameOpenSSL", crypto],
        swiftSettings: strict),
    .testTarget(
        name: "AudioCodecTests", dependencies: ["SeededRandomness", "AudioCodec"], swiftSettings: strict),
    .testTarget(
        name: "FrameRelayTests",
        dependencies: [
            "CallSignalling", "FrameRelay", crypto,
            .product(name: "NIOCore", package: "swift-nio", condition: connections),
            .product(name: "NIOPosix", package: "swift-nio", condition: connections),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "CallClientTests",
        dependencies: [
            "TransparencyLog", "KeyTransparency", "CallSignalling", "CallKeys", "FrameRelay", "SignetClient",
            "CallClient", crypto,
        ] + nio,
        swiftSettings: strict),
    .testTarget(
        name: "LogAuditorTests",
        dependencies: [
            "TransparencyLog", "KeyTransparency", "ProtocolTesting", "PinnedHTTP", "SignetClient", "LogAuditor",
            "ConnectionLimits", "Telemetry",
        ] + nio,
        swiftSettings: strict),
    .testTarget(
        name: "RecoveryClientTests",
        dependencies: [
            "SecretMemory", "SeededRandomness", "CanonicalCoding", "TransparencyLog", "VRF", "SecretSharing",
            "KeyTransparency", "DeviceIdentity",
            "SocialRecovery",
            "SignetAPI",
            "KeyDirectory",
            "DurableStorage",
            "RecoveryStore", "SQLStores", "EngineLab", "SignetServer", "PinnedHTTP", "SignetClient", "RecoveryClient",
            "SignetTesting",
            "ConnectionLimits",
            crypto,
            logging,
            sqlite,
            .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
        ] + nio,
        swiftSettings: strict),
    .testTarget(
        name: "SignetServerTests",
        dependencies: [
            "Platform", "ProcessTesting", "CanonicalCoding", "OPAQUE", "TransparencyLog", "VRF", "KeyTransparency",
            "NoteLog",
            "SignetAPI",
            "NotesAPI", "LogEngine", "KeyDirectory", "NoteStore", "RecoveryStore", "LogWitness", "SignetServer",
            "EngineLab", "SQLStores", "PostgresStores", "ObjectStores", "ObjectTesting", "LogFencing", "SharedLog",
            "signetd",
            "ProtocolTesting", "KeyPinning",
            "CallSignalling", "SignalBroker", "ConnectionLimits", "Telemetry", "SeededRandomness", "StrictJSON",
            "CardSigning",
            "CanaryScan", "STOMP", "FrameRelay", crypto, cryptoExtras, logging, sqlite,
            .product(name: "Tracing", package: "swift-distributed-tracing", condition: server),
            .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: server),
            .product(name: "NIOEmbedded", package: "swift-nio", condition: connections),
            .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
            .product(name: "Metrics", package: "swift-metrics", condition: server),
            .product(name: "CoreMetrics", package: "swift-metrics", condition: server),
        ] + nio + certificates,
        swiftSettings: strict),
    .testTarget(
        name: "SQLStoresTests", dependencies: ["EngineLab", "DurableStorage", "SQLStores"], swiftSettings: strict),
    .testTarget(
        name: "PostgresStoresTests",
        dependencies: ["SeededRandomness", "EngineLab", "LogFencing", "SQLStores", "PostgresStores"],
        swiftSettings: strict),
    .testTarget(
        name: "ObjectStoresTests",
        dependencies: [
            "Platform", "S3Requests", "ObjectStores", "S3Stores", "ObjectTesting", "PinScenarios", crypto,
        ] + nio,
        swiftSettings: strict),
    .testTarget(
        name: "SignalBrokerTests",
        dependencies: [
            "SeededRandomness", "CanonicalCoding", "STOMP", "CallSignalling", "DurableStorage", "SQLStores",
            "EngineLab",
            "SignalBroker", crypto, sqlite,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "SignalClientTests",
        dependencies: [
            "ProcessTesting", "SecretMemory", "CanonicalCoding", "STOMP", "CallSignalling", "KeyTransparency",
            "SignetAPI",
            "SignalBroker",
            "SignalClient", "CallClient",
            "PinnedHTTP", "SignetClient", "SignetServer", "KeyDirectory", "SignetTesting", "TransparencyLog", "signetd",
            "FrameRelay",
            "Signet", "SignetCalls", crypto, logging,
        ] + nio,
        swiftSettings: strict),
    .testTarget(
        name: "LogWitnessTests",
        dependencies: [
            "ProcessTesting", "CanonicalCoding", "TransparencyLog", "LogWitness", "DurableStorage", "SignetServer",
            "signetd", crypto,
            logging, sqlite,
        ] + nio,
        swiftSettings: strict),
    .testTarget(
        name: "SignetTestingTests",
        dependencies: [
            "TransparencyLog", "VerifiableMap", "KeyTransparency", "KeyPinning", "SignetAPI", "LogEngine",
            "KeyDirectory", "SignetServer", "PinnedHTTP", "SignetClient", "SignetTesting", logging,
        ],
        swiftSettings: strict),
    .testTarget(
        name: "LocalWebTests",
        dependencies: [
            "ProcessTesting", "SeededRandomness", "SecretMemory", "CanonicalCoding", "KeyTransparency", "SignetAPI",
            "KeyDirectory", "SignetServer", "SignetTesting", "PinnedHTTP", "SignetClient", "NotesClient", "NoteLog",
            "NoteStore",
            "Signet", "SignetCalls", "CallSignalling", "Meeting", "LocalWeb", "SignetCommand", "signetd",
            "TransparencyLog",
            "ConnectionLimits", "Credentials",
            "SelectiveDisclosure", crypto, logging, arguments,
        ] + nio,
        swiftSettings: strict),
    .testTarget(
        name: "CommandLineTests",
        dependencies: [
            "Platform", "ProcessTesting", "SecretMemory", "TransparencyLog", "VerifiableMap", "KeyTransparency",
            "EngineLab", "ProtocolTesting", "KeyPinning", "SignetAPI",
            "NotesAPI", "Signet", "SignetCommand", "signetd", "signet-vectors", "signet-lying-server", "signet-site",
            "signet-issuer", "Issuance", "IssuerServer", "PinnedChains", "SeededRandomness",
            "PinnedHTTP", "SignetClient",
            "SignetTesting",
            "PinScenarios", "CanonicalCoding", "RelyingParty", "SiteServer", "SecureCell", "OPAQUE", "NoteLog",
            "SealedNotes", "NotesClient", "CanaryScan", "DeviceIdentity", "SecretSharing", "SocialRecovery",
            "RecoveryClient", "AudioCodec", "StrictJSON", "JOSE", "SelectiveDisclosure", "TokenStatusList",
            "Presentation",
            "Credentials", "Meeting", crypto, sqlite, arguments, logging,
            .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
            .product(name: "HummingbirdCore", package: "hummingbird", condition: server),
        ] + nio,
        swiftSettings: strict),
]

/// What an app takes; README says when to take which. A product carries the modules that are used together, each imported by its name.
let coreProducts: [Product] = [
    .library(
        name: "SignetVerifier", targets: ["TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency", "SignetAPI"]),
    .library(
        name: "SignetFormats",
        targets: [
            "SecretMemory",
            "DIDKey", "SFrame", "STOMP", "SecureCell", "OPAQUE", "SecretSharing", "QRCode", "StrictJSON", "JOSE",
            "SelectiveDisclosure", "TokenStatusList", "CBOR", "MobileDocument", "MulticastDNS", "PassBundle",
        ]),
    .library(
        name: "SignetProtocols",
        targets: [
            "KeyPinning", "DeviceIdentity", "RelyingParty", "SocialRecovery", "NoteLog", "NotesAPI", "SealedNotes",
            "SealedMessages", "Meeting", "ContactMatching", "CallSignalling", "CallKeys", "Presentation", "Credentials",
            "Issuance",
        ]),
]

let runtimeProducts: [Product] = [
    .library(name: "Signet", targets: ["Signet"]),
    .library(
        name: "SignetClient",
        targets: ["SecretMemory", "SignetClient", "NotesClient", "SignetAPI", "NotesAPI", "KeyTransparency"]),
    .library(name: "SignetPinning", targets: ["KeyPinning", "PinnedChains", "PinnedHTTP"]),
    .library(
        name: "SignetCalls", targets: ["SignetCalls", "CallClient", "SignalClient", "SFrameOpenSSL", "AudioCodec"]),
    .library(name: "SignetIdentity", targets: ["SecretMemory", "DeviceKeystores", "SitesClient", "RecoveryClient"]),
    .library(
        name: "SignetServer", targets: ["SignetServer", "KeyDirectory", "LogEngine", "SignalBroker", "LogWitness"]),
    .library(name: "SignetAudit", targets: ["LogAuditor", "LogWitness"]),
    .library(name: "SignetTesting", targets: ["SignetTesting"]),
    .executable(name: "signet", targets: ["SignetCommand"]),
    .executable(name: "signetd", targets: ["signetd"]),
]

// MARK: Benchmarks

/// `SIGNET_BENCHMARKS=1` adds them. No one who uses Signet builds them, or what they are compared with.
let isMeasured = Context.environment["SIGNET_BENCHMARKS"] != nil

func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: ["Measuring"] + dependencies, path: "Benchmarks/Sources/\(name)",
        swiftSettings: strict)
}

let benchmarkTargets: [Target] = [
    // Counters under the C library, and a peer: OpenSSL with its key set once.
    .target(name: "CAllocations", path: "Benchmarks/Sources/CAllocations"),
    .target(name: "CSyncs", path: "Benchmarks/Sources/CSyncs"),
    .target(
        name: "CKeyedGCM", path: "Benchmarks/Sources/CKeyedGCM", linkerSettings: [.linkedLibrary("crypto")]),
    .target(name: "Measuring", path: "Benchmarks/Sources/Measuring", swiftSettings: strict),
    .target(
        name: "PaperDirectory", dependencies: ["TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency", crypto],
        path: "Benchmarks/Sources/PaperDirectory", swiftSettings: strict),
    .target(
        name: "BenchBaseline",
        dependencies: [
            "SignetServer", logging,
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HummingbirdTLS", package: "hummingbird"),
        ],
        path: "Benchmarks/Sources/BenchBaseline", swiftSettings: strict),
    .target(
        name: "BenchPeople", dependencies: ["KeyTransparency", "SignetAPI", "KeyDirectory", crypto],
        path: "Benchmarks/Sources/BenchPeople", swiftSettings: strict),
    benchmark("sqlite-bench", ["BenchPeople", "TransparencyLog", "VRF", "LogEngine", "KeyDirectory", logging]),
    benchmark(
        "verify-bench",
        [
            "CAllocations", "PaperDirectory", "TransparencyLog", "VRF", "VerifiableMap", "KeyTransparency", crypto,
            sodium,
        ]),
    benchmark("audit-bench", ["TransparencyLog", "VRF", "KeyTransparency"]),
    benchmark("frame-bench", ["CKeyedGCM", "SFrame", "SFrameOpenSSL", crypto]),
    benchmark("share-bench", ["SecretSharing", crypto]),
    benchmark(
        "card-bench",
        [
            "CanonicalCoding", "StrictJSON", "JOSE", "SelectiveDisclosure", "TokenStatusList", "Credentials",
            "ContactMatching", crypto,
        ]),
    benchmark(
        "notes-bench", ["PaperDirectory", "KeyTransparency", "NoteLog", "OPAQUE", "SealedNotes", "SecureCell", crypto]),
    benchmark(
        "pin-bench", ["KeyPinning", "PinnedChains", "PinnedHTTP", "SignetClient", "PinScenarios", crypto] + nio),
    benchmark(
        "book-bench",
        [
            "SecretMemory", "TransparencyLog", "KeyTransparency", "SignetAPI", "PinnedHTTP", "SignetClient",
            "NotesClient",
        ]),
    benchmark("append-bench", ["CSyncs", "TransparencyLog", "LogEngine"]),
    benchmark(
        "cluster-bench",
        ["KeyTransparency", "PinnedHTTP", "SignetAPI", "SignetClient", "SignetTesting", "TransparencyLog"]),
    benchmark(
        "start-bench",
        [
            "PaperDirectory", "TransparencyLog", "VRF", "KeyTransparency", "LogEngine", "KeyDirectory",
            "LogFencing", "ObjectStores", "PostgresStores", "SQLStores", "SharedLog", "EngineLab", logging, sqlite,
        ]),
    benchmark(
        "directory-bench",
        [
            "BenchPeople", "BenchBaseline", "TransparencyLog", "VRF", "KeyTransparency", "SignetAPI", "KeyDirectory",
            "SignetServer", "PinnedHTTP", "SignetClient", "SignetTesting", "Signet", "NotesClient", "SecretMemory",
            crypto,
            logging,
        ]),
    benchmark(
        "shared-bench",
        [
            "BenchPeople", "BenchBaseline", "TransparencyLog", "LogFencing", "LogEngine", "SQLStores", "PostgresStores",
            "SharedLog", "KeyDirectory", "SignetServer", logging,
        ]),
]

/// `SIGNET_TESTS=NotesTests,STOMPTests` leaves out the other test targets: a quicker build while writing.
let chosenTests = Context.environment["SIGNET_TESTS"]?.split(separator: ",").map(String.init)
let wholeTargets = coreTargets + certificateTargets + runtimeTargets
let allTargets = isCoreOnly ? coreTargets : isMeasured ? wholeTargets + benchmarkTargets : wholeTargets

let package = Package(
    name: "signet",
    platforms: [.macOS(.v26), .iOS(.v26)],
    products: isCoreOnly ? coreProducts : coreProducts + runtimeProducts,
    traits: [
        .trait(name: "Connections", description: "Pinned connections: SwiftNIO, swift-certificates."),
        .trait(name: "Client", description: "Stores as well: GRDB, swift-log.", enabledTraits: ["Connections"]),
        .trait(name: "Server", description: "Answering: Hummingbird, metrics, lifecycle.", enabledTraits: ["Client"]),
        .trait(name: "Tools", description: "The programs: swift-argument-parser.", enabledTraits: ["Server"]),
        .default(enabledTraits: ["Tools"]),
    ],
    dependencies: isCoreOnly ? coreDependencies : coreDependencies + runtimeDependencies,
    targets: allTargets.filter { target in
        target.type != .test || chosenTests.map { $0.contains(target.name) } ?? true
    },
    swiftLanguageModes: [.v6]
)
