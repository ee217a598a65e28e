// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SecretSharing
import Testing

@testable import SocialRecovery

/// What owners, guardians and new devices leave with the server.
@Suite struct LetterTests {
    let world: World
    private let key: SealingKey

    init() throws {
        world = try World()
        key = try SealingKey.generate()
    }

    private var ana: Handle { world.guardians[0].handle }

    private func letters() throws -> [GuardianLetter] {
        let challenge = [UInt8](repeating: 5, count: 32)
        let proof = try world.packet(of: 0).proveHolding(of: challenge)
        return [
            .packet(world.scope, sealed: world.setup.guardians[0].packet, challenge: challenge),
            .check(world.scope, challenge: challenge), .proof(world.scope, challenge: challenge, proof),
            .inForce(world.scope, world.setup.commitment),
        ]
    }

    private func sealed(_ letter: GuardianLetter) throws -> [UInt8] {
        try #require(letter.sealed(from: world.owner, to: ana, key: key.publicBytes))
    }

    @Test func everyLetterOpensAndAllHaveOneLength() throws {
        for letter in try letters() {
            let bytes = try sealed(letter)
            #expect(bytes.count == 4096 && GuardianLetter.sealedByteCount == 4096)
            #expect(try GuardianLetter(opening: bytes, from: world.owner, to: ana, with: key) == letter)
        }
    }

    @Test func aLetterOpensForItsRecipientFromItsSenderOnly() throws {
        let bytes = try sealed(letters()[0])
        let ben = world.guardians[1].handle
        for (sender, recipient, key) in [
            (ben, ana, key), (world.owner, ben, key), (world.owner, ana, try SealingKey.generate()),
        ] {
            #expect(throws: GuardianLetterError.notSealedToThisDevice) {
                try GuardianLetter(opening: bytes, from: sender, to: recipient, with: key)
            }
        }
    }

    @Test func everyChangedBitAndOtherLengthIsRefused() throws {
        let bytes = try sealed(letters()[2])
        for bit in stride(from: 0, to: bytes.count * 8, by: 997) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: GuardianLetterError.self) {
                try GuardianLetter(opening: changed, from: world.owner, to: ana, with: key)
            }
        }
        for other in [Array(bytes.dropLast()), bytes + [0], []] {
            #expect(throws: GuardianLetterError.notSealedToThisDevice) {
                try GuardianLetter(opening: other, from: world.owner, to: ana, with: key)
            }
        }
    }

    @Test func lettersHaveOneEncoding() throws {
        func opened(_ plaintext: [UInt8]) throws -> GuardianLetter {
            let bytes = try #require(
                PublicSealing.seal(
                    plaintext + [UInt8](repeating: 0, count: 2960 - plaintext.count), to: key.publicBytes,
                    purpose: "signet-letter/v2", context: world.owner.bytes + [0] + ana.bytes))
            return try GuardianLetter(opening: bytes, from: world.owner, to: ana, with: key)
        }
        let check = [2] + world.scope.encoded + [UInt8](repeating: 5, count: 32)
        #expect(throws: Never.self) { try opened(check) }
        for bad in [[9] + check.dropFirst(), check + [1], [2] + [UInt8](repeating: 0, count: 68)] {
            #expect(throws: GuardianLetterError.malformed(.invalidField)) { try opened(Array(bad)) }
        }
    }

    @Test func answersComeBackAndNothingElseDoes() throws {
        let device = try NewDevice()
        let request = try device.request(world.scope)
        let release = try world.release(0, request, device)
        let ana = world.guardians[0]
        let number = try #require(
            GuardianNumber(
                [UInt8](repeating: 1, count: 32), at: 9, for: request.hash, by: ana.handle,
                signing: ana.deviceSignature))
        for answer in [GuardianAnswer.number(number), .release(release)] {
            #expect(answer.encoded.count == GuardianAnswer.byteCount)
            #expect(try GuardianAnswer(decoding: answer.encoded) == answer)
            var tailed = answer.encoded
            tailed[GuardianAnswer.byteCount - 1] = 1
            var kind = answer.encoded
            kind[0] = 3
            for bad in [tailed, kind, Array(answer.encoded.dropLast()), answer.encoded + [0], []] {
                #expect(throws: RecoveryFormatError.self) { try GuardianAnswer(decoding: bad) }
            }
        }
    }

    @Test func aRecoveryFileComesBackAndNothingElseDoes() throws {
        let file = RecoveryContents(
            commitment: world.setup.commitment, bundle: world.setup.bundle.encoded, journal: world.journal)
        #expect(file.encoded.count.isMultiple(of: 8192))
        #expect(try RecoveryContents(decoding: file.encoded) == file)
        var tailed = file.encoded
        tailed[tailed.count - 1] = 1
        let longer = file.encoded + [UInt8](repeating: 0, count: 8192)
        for bad in [tailed, longer, Array(file.encoded.dropLast(8192)), Array(file.encoded.dropLast()), []] {
            #expect(throws: RecoveryFormatError.self) { try RecoveryContents(decoding: bad) }
        }
    }

    @Test func nothingSecretIsInARecoveryFile() throws {
        let file = RecoveryContents(
            commitment: world.setup.commitment, bundle: world.setup.bundle.encoded, journal: world.journal)
        for position in 0..<5 {
            #expect(!contains(file.encoded, try world.packet(of: position).share.scalar.exposed))
            #expect(!contains(file.encoded, world.guardians[position].handle.bytes))
        }
        #expect(!contains(file.encoded, world.accountKey))
    }
}
