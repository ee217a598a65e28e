// SPDX-License-Identifier: Apache-2.0

import Crypto

/// AES-GCM with a tag of 16 bytes.
///
/// Spec: RFC 9605, section 4.5; NIST SP 800-38D.
struct GCMCipher: FrameCipher {
    private static let tagByteCount = 16
    private let key: SymmetricKey

    init(key: SymmetricKey) { self.key = key }

    func seal(
        _ plaintext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8],
        into output: inout [UInt8]
    ) throws(FrameCipherError) {
        do {
            let box = try AES.GCM.seal(
                plaintext, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: authenticated)
            // With a nonce of 12 bytes, `combined` is there: nonce, ciphertext, tag, in one piece.
            guard let combined = box.combined else { throw FrameCipherError.unavailable }
            output.append(contentsOf: combined.dropFirst(CipherSuite.nonceByteCount))
        } catch { throw .unavailable }
    }

    func open(
        _ ciphertext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8]
    ) throws(FrameCipherError) -> [UInt8] {
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: nonce), ciphertext: ciphertext.dropLast(Self.tagByteCount),
                tag: ciphertext.suffix(Self.tagByteCount))
            return Array(try AES.GCM.open(box, using: key, authenticating: authenticated))
        } catch { throw .notAuthentic }
    }
}
