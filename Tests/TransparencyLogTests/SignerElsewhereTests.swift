// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing
import TransparencyLog

/// Signers whose private key is kept elsewhere, such as in a token.
@Suite struct SignerElsewhereTests {
    private let key = Curve25519.Signing.PrivateKey()
    private let text = Array("a note\n".utf8)

    private func verifierKey(_ algorithm: VerifierKey.Algorithm = .ed25519) throws -> VerifierKey {
        try VerifierKey(
            name: KeyName(Array("example.org/log".utf8)), algorithm: algorithm,
            publicKey: Array(key.publicKey.rawRepresentation))
    }

    @Test func whatIsSignedElsewhereVerifies() throws {
        let key = key
        let signer = try NoteSigner(verifierKey: verifierKey()) { try? Array(key.signature(for: $0)) }
        let signature = try signer.sign(text)
        #expect(key.publicKey.isValidSignature(signature.blob, for: text))
        #expect(signature.keyID == (try verifierKey().keyID))
    }

    @Test func aSignatureThatDoesNotVerifyIsNotUsed() throws {
        let key = key
        for signed: @Sendable ([UInt8]) -> [UInt8]? in [
            { _ in nil }, { _ in [] }, { _ in [UInt8](repeating: 0, count: 64) },
            { try? Array(key.signature(for: $0 + [0])) },
            { try? Array(Curve25519.Signing.PrivateKey().signature(for: $0)) },
        ] {
            let signer = try NoteSigner(verifierKey: verifierKey(), signing: signed)
            #expect(throws: NoteSignerError.signingFailed) { try signer.sign(text) }
        }
    }

    @Test func onlyALogsKeyMayBeElsewhere() throws {
        let cosigner = try verifierKey(.cosignatureV1)
        #expect(throws: NoteSignerError.wrongAlgorithm) { try NoteSigner(verifierKey: cosigner) { _ in nil } }
    }
}
