// SPDX-License-Identifier: Apache-2.0

import KeyPinning
package import KeyTransparency
package import SignetAPI
package import TransparencyLog

/// A directory in whose log pins stand, one version an epoch.
package struct PaperPins {
    /// The directory.
    package private(set) var directory: PaperDirectory
    /// The person who is looked up, for the epoch, and is not registered.
    package let nobody: Handle
    /// What was logged and can be read.
    package private(set) var versions: [DirectoryPins] = []
    private var count: UInt64 = 0

    /// This many versions.
    package init(_ count: Int) throws {
        directory = try PaperDirectory(filler: 3)
        nobody = try Handle(canonical: Array("nobody@example.org".utf8))
        for _ in 0..<count { try log(pins(UInt64(versions.count + 1))) }
    }

    /// The key whose signature brings pins in a file.
    package static func recovery() throws -> NoteSigner {
        try PaperDirectory.signer("directory.example/recovery", .ed25519, seed: 9)
    }

    /// Pins of a version, which differ by the seed.
    package func pins(_ version: UInt64, _ seed: UInt8? = nil, hasRecovery: Bool = true) throws -> DirectoryPins {
        let seed = seed ?? UInt8(truncatingIfNeeded: version)
        return DirectoryPins(
            origin: directory.log.verifierKey.name, version: version, time: 1_800_000_000,
            server: ServerTrust(
                root: [0x30, 0x82, 1, 2],
                pins: [
                    Pin(SPKIPin(hashing: [seed]), tier: .leaf),
                    Pin(SPKIPin(hashing: [seed, 1]), tier: .leaf, isBackup: true),
                ], recoveryKey: hasRecovery ? try Self.recovery().verifierKey : nil))
    }

    /// Logs pins of any claimed version.
    package mutating func log(_ pins: DirectoryPins) throws {
        versions.append(pins)
        try log(text: pins.text)
    }

    /// Logs a text that need be none of pins.
    package mutating func log(text: [UInt8]) throws {
        count += 1
        try directory.log(ReservedLabel.pins.record(of: text, version: count).entry)
        try directory.endEpoch()
    }

    /// An honest answer about them.
    package func lookup() throws -> [UInt8] { try directory.answer(aboutAbsent: nobody).response.encoded }

    /// The epoch that it shows.
    package func epoch() throws -> VerifiedEpoch {
        try directory.verifier().verify(lookup(), for: nobody, knowing: nil, at: PaperDirectory.now).epoch
    }

    /// What an honest server answers; `shown` in the place of the newest.
    package func answer(_ shown: DirectoryPins? = nil, by signer: NoteSigner? = nil) throws -> LoggedPins {
        guard let newest = versions.last else { throw PaperFault.notThere }
        return LoggedPins(note: try (shown ?? newest).note(by: signer ?? directory.log), place: try place())
    }

    /// Where the newest stands.
    package func place() throws -> NewestRecordProof { try directory.newestRecord(under: .pins) }

    /// The file of a client that took these pins.
    package func profile(_ pins: DirectoryPins) throws -> DirectoryProfile {
        try DirectoryProfile(url: "https://localhost", server: pins.server, mark: nil, trust: directory.trust())
            .following(pins)
    }
}
