// SPDX-License-Identifier: Apache-2.0

public import Crypto
import CryptoExtras

/// Secure Cell in Context Imprint mode: as long as the message, and **not authenticated**.
///
/// Spec: Themis 0.15, Secure Cell, Context Imprint; AES-256-CTR (NIST SP 800-38A) with a derived counter block.
///
/// Security: do not rely on it. A wrong key or context gives garbage without an error, and who flips a bit of the
/// ciphertext flips that bit of the message. The same message under the same key and context gives the same
/// ciphertext. And two messages of one length under one key and context share a key stream, so that the XOR of the
/// ciphertexts is the XOR of the messages. It is here so that old records can be read.
public enum ContextImprint {
    /// Encrypts `plaintext` (1 to 2³²−1 bytes) under `key` (1 byte or more) and a context of at least one byte.
    ///
    /// - Throws: ``CellError``: the caller's mistake.
    public static func imprint(
        _ plaintext: [UInt8], key: SymmetricKey, context: [UInt8]
    ) throws(CellError) -> [UInt8] {
        guard key.bitCount > 0 else { throw .emptyKey }
        guard !plaintext.isEmpty else { throw .emptyPlaintext }
        guard !context.isEmpty else { throw .emptyContext }
        guard let length = UInt32(exactly: plaintext.count) else { throw .plaintextTooLong(plaintext.count) }
        let messageKey = try SoterKDF.messageKey(from: key, length: length, context: [], byteCount: 32)
        let iv = try SoterKDF.messageIV(from: messageKey, context: context)
        do {
            let block = try AES._CTR.Nonce(nonceBytes: iv)
            return Array(try AES._CTR.encrypt(plaintext, using: messageKey, nonce: block))
        } catch { throw .cipherFailed }
    }

    /// What `imprint` with this key and context encrypted, or garbage.
    ///
    /// - Throws: ``CellError``: the caller's mistake; never that key, context or bytes are wrong.
    public static func restore(
        _ imprint: [UInt8], key: SymmetricKey, context: [UInt8]
    ) throws(CellError) -> [UInt8] {
        try self.imprint(imprint, key: key, context: context)
    }
}
