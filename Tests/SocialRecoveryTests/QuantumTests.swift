// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Foundation
import KeyTransparency
import SecretMemory
import SecretSharing
import Testing

@testable import SocialRecovery

/// What a recovery sends and stores, against whoever copies it today and breaks X25519 one day; and against whoever breaks
/// ML-KEM.
@Suite struct QuantumTests {
    let world: World

    init() throws { world = try World() }

    /// Something sealed, and whoever can open it.
    private struct Sealed {
        let bytes: [UInt8]
        let plaintextByteCount: Int
        /// The seed of the recipient's key, 32 bytes.
        let seed: [UInt8]
        /// The recipient's public key where the sender finds it.
        let named: [UInt8]?
        let purpose: String
        let context: [UInt8]
        /// Whether the recipient opens these bytes in the place of the ones that were sealed.
        let opens: ([UInt8]) throws -> Bool
    }

    private func outsider() throws -> HybridHalves {
        try HybridHalves(seed: Array(SealingKey.generate().seedRepresentation))
    }

    private func expectHybrid(_ sealed: Sealed) throws {
        let halves = try HybridHalves(seed: sealed.seed)
        #expect(sealed.named == halves.publicKey && halves.publicKey.count == 1184 + 32)
        #expect(sealed.bytes.count == 1088 + 32 + sealed.plaintextByteCount + 16)
        func opened(by halves: HybridHalves) throws -> [UInt8] {
            try halves.open(sealed.bytes, info: bytes(sealed.purpose), context: sealed.context)
        }
        let plaintext = try opened(by: halves)
        #expect(plaintext.count == sealed.plaintextByteCount)
        try #expect(sealed.opens(sealed.bytes))

        // The attack: somebody has the private key of one half. With their own for the other, nothing opens.
        let other = try outsider()
        var (brokeCurve, brokeLattice) = (halves, halves)
        (brokeCurve.lattice, brokeLattice.curve) = (other.lattice, other.curve)
        for attacker in [brokeCurve, brokeLattice, other] {
            #expect(throws: CryptoKitError.self) { try opened(by: attacker) }
        }
        for place in [0, HybridHalves.latticeByteCount - 1, HybridHalves.latticeByteCount, 1119] {
            var changed = sealed.bytes
            changed[place] ^= 1
            try #expect(!sealed.opens(changed), "another encapsulation at \(place)")
        }
        try #expect(!sealed.opens(classical(plaintext, sealed, halves)), "sealed with X25519 alone")
    }

    /// The same content in the same shape, sealed to the X25519 half alone.
    private func classical(_ plaintext: [UInt8], _ sealed: Sealed, _ halves: HybridHalves) throws -> [UInt8] {
        let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
        var sender = try HPKE.Sender(
            recipientKey: halves.curve.publicKey, ciphersuite: suite, info: Data(sealed.purpose.utf8))
        let text = try sender.seal(plaintext, authenticating: sealed.context)
        return sealed.bytes.prefix(HybridHalves.latticeByteCount) + Array(sender.encapsulatedKey + text)
    }

    private struct Published: Decodable {
        struct Encryption: Decodable { let aad, ct, pt: String }
        let kem_id: Int
        let info, skRm, pkRm, enc: String
        let encryptions: [Encryption]
    }

    /// `Vectors/hpke`, of draft-ietf-hpke-pq: what follows would show nothing if the tests read X-Wing in a way of their own.
    @Test func theTestsOwnHybridOpensAPublishedMessage() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Vectors/hpke/hpke.json")
        let entries = try JSONDecoder().decode([Published].self, from: Data(contentsOf: file))
        let entry = try #require(entries.first { $0.kem_id == 0x647A })
        func unhex(_ text: String) throws -> [UInt8] { try Hex.decode(Array(text.utf8)) }
        let halves = try HybridHalves(seed: unhex(entry.skRm))
        #expect(try halves.publicKey == unhex(entry.pkRm))
        let message = try #require(entry.encryptions.first)
        let opened = try halves.open(
            unhex(entry.enc) + unhex(message.ct), info: unhex(entry.info), context: unhex(message.aad),
            cipher: .chaChaPoly)
        #expect(try opened == unhex(message.pt))
    }

    @Test func aGuardiansPacketOpensWithBothHalvesOfTheirDevicesKey() throws {
        let ana = world.guardians[0]
        try expectHybrid(
            Sealed(
                bytes: world.setup.guardians[0].packet, plaintextByteCount: 1024,
                seed: Array(ana.sealing.seedRepresentation), named: ana.record().keys.kem,
                purpose: "signet-packet/v2", context: world.scope.encoded
            ) {
                let packet = try? GuardianPacket(
                    opening: $0, with: ana.sealing, scope: world.scope, as: ana.handle, from: world.owner,
                    identityKey: world.identity.publicBytes)
                return packet != nil
            })
    }

    @Test func aLetterOpensWithBothHalvesOfTheRecipientsDevicesKey() throws {
        let ana = world.guardians[0]
        let letter = GuardianLetter.check(world.scope, challenge: [UInt8](repeating: 5, count: 32))
        let named = try #require(try ana.record().keys.kem)
        try expectHybrid(
            Sealed(
                bytes: #require(letter.sealed(from: world.owner, to: ana.handle, key: named)), plaintextByteCount: 2960,
                seed: Array(ana.sealing.seedRepresentation), named: named, purpose: "signet-letter/v2",
                context: world.owner.bytes + [0] + ana.handle.bytes
            ) {
                let read = try? GuardianLetter(opening: $0, from: world.owner, to: ana.handle, with: ana.sealing)
                return read == letter
            })
    }

    @Test func aReleaseOpensWithBothHalvesOfTheRequestsKey() throws {
        let device = try NewDevice()
        let request = try device.request(world.scope)
        let release = try world.release(0, request, device)
        let start = release.encoded.count - 64 - release.sealed.count
        try expectHybrid(
            Sealed(
                bytes: release.sealed, plaintextByteCount: 2 + 32 + 1 + 32 + 32,
                seed: Array(device.sealing.seedRepresentation), named: request.sealingKey,
                purpose: "signet-release/v2", context: request.hash + world.scope.encoded
            ) {
                var encoded = release.encoded
                encoded.replaceSubrange(start..<start + release.sealed.count, with: $0)
                return try ShareRelease(decoding: encoded).open(with: device.sealing) != nil
            })
    }

    @Test func aJournalOpensWithBothHalvesOfTheBundlesKey() throws {
        let parts = try (0..<3).map { try world.packet(of: $0).parts.journal }
        let key = try #require(SecretBytes.combined(from: parts).flatMap(JournalSeed.init)).privateKey
        let record = try #require(world.journal.records.first)
        try expectHybrid(
            Sealed(
                bytes: record.sealed, plaintextByteCount: 2 * 512, seed: Array(key.seedRepresentation),
                named: world.setup.bundle.journalKey, purpose: "signet-journal/v2",
                context: world.scope.encoded + [UInt8](repeating: 0, count: 32)
            ) {
                let changed = JournalRecord(
                    device: record.device, version: record.version, sealed: $0, signature: record.signature)
                let opened = try? RecoveryJournal(scope: world.scope, [changed]).open(with: key, first: 1)
                return opened?.entries.count == 2
            })
    }
}
