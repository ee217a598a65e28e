// SPDX-License-Identifier: Apache-2.0

import Crypto

#if canImport(CSodium)
    import CSodium
#endif

/// AES-GCM under the key that a cell derives from its master key.
enum CellCipher {
    /// A whole cell: header and ciphertext, in one array.
    static func cell(
        of plaintext: [UInt8], masterKey: SymmetricKey, context: [UInt8], iv: [UInt8],
        parameters: PassphraseParameters? = nil
    ) throws(CellError) -> [UInt8] {
        let headerByteCount = CellHeader.byteCount(parameters)
        var result: Result<CellHeader, CellError> = .failure(.cipherFailed)
        let cell = [UInt8](unsafeUninitializedCapacity: headerByteCount + plaintext.count) { buffer, filled in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            let body = UnsafeMutableRawBufferPointer(rebasing: bytes[headerByteCount...].prefix(plaintext.count))
            result = header(
                sealing: plaintext, masterKey: masterKey, context: context, iv: iv, parameters: parameters, into: body)
            guard case .success(let header) = result else { return }
            bytes.copyBytes(from: header.encoded)
            filled = headerByteCount + plaintext.count
        }
        _ = try result.get()
        return cell
    }

    /// Header and ciphertext, each by itself.
    static func parts(
        of plaintext: [UInt8], masterKey: SymmetricKey, context: [UInt8], iv: [UInt8]
    ) throws(CellError) -> (header: CellHeader, ciphertext: [UInt8]) {
        var result: Result<CellHeader, CellError> = .failure(.cipherFailed)
        let ciphertext = [UInt8](unsafeUninitializedCapacity: plaintext.count) { buffer, filled in
            let body = UnsafeMutableRawBufferPointer(
                rebasing: UnsafeMutableRawBufferPointer(buffer).prefix(plaintext.count))
            result = header(
                sealing: plaintext, masterKey: masterKey, context: context, iv: iv, parameters: nil, into: body)
            if case .success = result { filled = plaintext.count }
        }
        return (try result.get(), ciphertext)
    }

    static func open(
        _ header: CellHeader, _ ciphertext: ArraySlice<UInt8>, masterKey: SymmetricKey, context: [UInt8]
    ) throws(CellError) -> [UInt8] {
        guard masterKey.bitCount > 0 else { throw .emptyKey }
        guard Int(header.messageLength) == ciphertext.count else { throw .malformed(.messageLength) }
        var isAuthentic = false
        let plaintext = [UInt8](unsafeUninitializedCapacity: ciphertext.count) { buffer, filled in
            let output = UnsafeMutableRawBufferPointer(
                rebasing: UnsafeMutableRawBufferPointer(buffer).prefix(ciphertext.count))
            isAuthentic = isOpened(header, ciphertext, masterKey, context, into: output)
            if isAuthentic { filled = ciphertext.count }
        }
        guard isAuthentic else { throw .notAuthentic }
        return plaintext
    }

    /// Fills `ciphertext`; the header has the tag.
    private static func header(
        sealing plaintext: [UInt8], masterKey: SymmetricKey, context: [UInt8], iv: [UInt8],
        parameters: PassphraseParameters?, into ciphertext: UnsafeMutableRawBufferPointer
    ) -> Result<CellHeader, CellError> {
        guard masterKey.bitCount > 0 else { return .failure(.emptyKey) }
        guard !plaintext.isEmpty else { return .failure(.emptyPlaintext) }
        guard let length = UInt32(exactly: plaintext.count) else { return .failure(.plaintextTooLong(plaintext.count)) }
        var tag = [UInt8](repeating: 0, count: CellHeader.tagByteCount)
        let isSealed = SoterKDF.withMessageKey(from: masterKey, length: length, context: context, byteCount: 32) {
            key in
            plaintext.withUnsafeBytes { plaintext in
                iv.withUnsafeBytes { iv in
                    context.withUnsafeBytes { context in
                        tag.withUnsafeMutableBytes { tag in
                            AESGCM.seal(
                                plaintext, key: key, nonce: iv, authenticating: context, into: ciphertext, tag: tag)
                        }
                    }
                }
            }
        }
        guard isSealed == true else { return .failure(.cipherFailed) }
        return .success(
            CellHeader(
                algorithm: parameters == nil ? .key : .passphrase, messageLength: length, iv: iv[...], tag: tag[...],
                parameters: parameters))
    }

    private static func isOpened(
        _ header: CellHeader, _ ciphertext: ArraySlice<UInt8>, _ masterKey: SymmetricKey, _ context: [UInt8],
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let byteCount = header.algorithm.keyByteCount
        return SoterKDF.withMessageKey(
            from: masterKey, length: header.messageLength, context: context, byteCount: byteCount
        ) { key in
            ciphertext.withUnsafeBytes { ciphertext in
                header.tag.withUnsafeBytes { tag in
                    header.iv.withUnsafeBytes { iv in
                        context.withUnsafeBytes { context in
                            AESGCM.open(
                                ciphertext, tag: tag, key: key, nonce: iv, authenticating: context, into: plaintext)
                        }
                    }
                }
            }
        } ?? false
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
