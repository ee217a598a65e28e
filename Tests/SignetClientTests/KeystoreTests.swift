// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyTransparency
import SecretMemory
import SignetAPI
import SignetClient
import Testing

@Suite struct KeystoreTests {
    /// The cheapest keystore that is accepted.
    private static let cost = KeystoreCost.minimum
    private static let passphrase = SecretBytes(copying: Array("correct horse".utf8))

    private static func secrets(withIdentity: Bool = true) throws -> DeviceSecrets {
        try DeviceSecrets.generate(
            for: Handle(typed: Array("alice@example.org".utf8)), withIdentity: withIdentity)
    }

    @Test(arguments: [true, false])
    func aSealedKeystoreOpensAgain(withIdentity: Bool) throws {
        let secrets = try Self.secrets(withIdentity: withIdentity)
        let sealed = try Keystore(sealing: secrets, under: Self.passphrase, cost: Self.cost)
        let read = try Keystore(decoding: sealed.encoded)
        #expect(read == sealed)
        let opened = try read.open(with: Self.passphrase)
        #expect(opened.handle == secrets.handle)
        #expect(opened.keys == secrets.keys)
        #expect(opened.identityKey == secrets.identityKey)
        let key = try Curve25519.Signing.PublicKey(rawRepresentation: secrets.keys.signing)
        #expect(key.isValidSignature(try opened.sign([1, 2, 3]), for: [1, 2, 3]))
        #expect(try (opened.signAsIdentity([1]) != nil) == withIdentity)
    }

    @Test func sealingTwiceGivesDifferentBytes() throws {
        let secrets = try Self.secrets()
        let sealed = try (0..<2).map { _ in
            try Keystore(sealing: secrets, under: Self.passphrase, cost: Self.cost).encoded
        }
        #expect(sealed[0] != sealed[1])
    }

    @Test func aWrongPassphraseIsRefused() throws {
        let sealed = try Keystore(sealing: Self.secrets(), under: Self.passphrase, cost: Self.cost)
        for wrong in ["correct hors", "correct horse ", "Correct horse"] {
            #expect(throws: KeystoreError.wrongPassphraseOrDamaged) {
                try sealed.open(with: SecretBytes(copying: Array(wrong.utf8)))
            }
        }
    }

    @Test func anEmptyPassphraseIsRefused() throws {
        #expect(throws: KeystoreError.emptyPassphrase) {
            try Keystore(sealing: Self.secrets(), under: SecretBytes(copying: [] as [UInt8]), cost: Self.cost)
        }
    }

    /// The key is derived again where the change affects it: in format, cost and salt.
    @Test func everyChangedByteIsRefused() throws {
        let sealed = try Keystore(sealing: Self.secrets(), under: Self.passphrase, cost: Self.cost)
        let key = try sealed.key(from: Self.passphrase)
        for index in sealed.encoded.indices {
            var changed = sealed.encoded
            changed[index] ^= 1
            #expect(throws: KeystoreError.self, "byte \(index)") {
                let keystore = try Keystore(decoding: changed)
                _ = try keystore.open(under: index < 43 ? keystore.key(from: Self.passphrase) : key)
            }
        }
    }

    @Test func everyTruncationAndAnyTailIsRefused() throws {
        let sealed = try Keystore(sealing: Self.secrets(), under: Self.passphrase, cost: Self.cost).encoded
        for count in 0..<sealed.count {
            #expect(throws: KeystoreError.self) { try Keystore(decoding: Array(sealed.prefix(count))) }
        }
        #expect(throws: KeystoreError.self) { try Keystore(decoding: sealed + [0]) }
    }

    @Test(arguments: [
        KeystoreCost(passes: 1, memory: KeystoreCost.minimum.memory),
        KeystoreCost(passes: KeystoreCost.minimum.passes, memory: KeystoreCost.minimum.memory - 1),
        KeystoreCost(passes: 0, memory: 0),
    ])
    func aCostBelowTheMinimumIsRefused(_ cost: KeystoreCost) throws {
        try expectRefusal(of: cost, .costTooLow(cost))
    }

    @Test(arguments: [
        KeystoreCost(passes: 17, memory: KeystoreCost.minimum.memory),
        KeystoreCost(passes: 2, memory: KeystoreCost.maximum.memory + 1),
        KeystoreCost(passes: .max, memory: .max),
    ])
    func aCostAboveTheMaximumIsRefusedBeforeAllocating(_ cost: KeystoreCost) throws {
        try expectRefusal(of: cost, .costTooHigh(cost))
    }

    /// Both when sealing and in a file.
    private func expectRefusal(of cost: KeystoreCost, _ error: KeystoreError) throws {
        let secrets = try Self.secrets()
        #expect(throws: error) { try Keystore(sealing: secrets, under: Self.passphrase, cost: cost) }
        var file = try Keystore(sealing: secrets, under: Self.passphrase, cost: Self.cost).encoded
        file.replaceSubrange(19..<23, with: withUnsafeBytes(of: cost.passes.bigEndian, Array.init))
        file.replaceSubrange(23..<27, with: withUnsafeBytes(of: cost.memory.bigEndian, Array.init))
        #expect(throws: error) { try Keystore(decoding: file) }
    }

    @Test func secretsDoNotPrint() throws {
        let secrets = try Self.secrets()
        #expect("\(secrets)" == "DeviceSecrets(alice@example.org)")
        #expect(String(reflecting: SecretBytes(copying: [65, 66])) == "SecretBytes")
        var dumped = ""
        dump(secrets, to: &dumped)
        #expect(!dumped.contains("signing"))
    }

    @Test func aCardAnswersTheServersChallenge() throws {
        let secrets = try Self.secrets(withIdentity: false)
        let request = PossessionRequest(handle: secrets.handle, keys: secrets.keys)
        let sealingKey = SymmetricKey(size: .bits256)
        let challenge = try PossessionChallenge(for: request, sealingKey: sealingKey, at: 1000)
        let card = try secrets.card(answering: challenge)
        try card.proof.verify(for: request, sealingKey: sealingKey, at: 1001)
        #expect(card.request == request)
    }
}
