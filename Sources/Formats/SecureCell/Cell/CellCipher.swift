// SPDX-License-Identifier: Apache-2.0

import Crypto

#if canImport(CSodium)
    import CSodium
#endif

/// AES-GCM under the key that a cell derives from its master key. The one seam to the cipher.
enum CellCipher {
    /// Header and ciphertext, the header with the tag.
    static func seal(
        _ plaintext: [UInt8], masterKey: SymmetricKey, context: [UInt8], iv: [UInt8],
        parameters: PassphraseParameters? = nil
    ) throws(CellError) -> (header: CellHeader, ciphertext: some Collection<UInt8>) {
        guard masterKey.bitCount > 0 else { throw .emptyKey }
        guard !plaintext.isEmpty else { throw .emptyPlaintext }
        guard let length = UInt32(exactly: plaintext.count) else { throw .plaintextTooLong(plaintext.count) }
        let key = SoterKDF.messageKey(from: masterKey, length: length, context: context, byteCount: 32)
        do {
            let box = try AES.GCM.seal(
                plaintext, using: key, nonce: AES.GCM.Nonce(data: iv), authenticating: context)
            let header = CellHeader(
                algorithm: parameters == nil ? .key : .passphrase, messageLength: length, iv: iv[...],
                tag: Array(box.tag)[...], parameters: parameters)
            return (header, box.ciphertext)
        } catch { throw .cipherFailed }
    }

    static func open(
        _ header: CellHeader, _ ciphertext: ArraySlice<UInt8>, masterKey: SymmetricKey, context: [UInt8]
    ) throws(CellError) -> [UInt8] {
        guard masterKey.bitCount > 0 else { throw .emptyKey }
        guard Int(header.messageLength) == ciphertext.count else { throw .malformed(.messageLength) }
        let key = SoterKDF.messageKey(
            from: masterKey, length: header.messageLength, context: context,
            byteCount: header.algorithm.keyByteCount)
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: header.iv), ciphertext: ciphertext, tag: header.tag)
            return Array(try AES.GCM.open(box, using: key, authenticating: context))
        } catch { throw .notAuthentic }
    }

    /// From the system, in one call where there is libsodium: Swift's own generator asks for every byte.
    static func randomBytes(_ count: Int) -> [UInt8] {
        #if canImport(CSodium)
            var bytes = [UInt8](repeating: 0, count: count)
            randombytes_buf(&bytes, count)
            return bytes
        #else
            return SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
        #endif
    }
}
