// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The checksum of everything the log engine writes for itself: SHA-256 over a nonce and the bytes.
///
/// Security: it finds damage and does not authenticate: an attacker who can write to the data directory can write a
/// log.
enum Checksum {
    static let byteCount = 32

    /// SHA-256(`nonce` || `bytes`).
    static func of(_ bytes: ArraySlice<UInt8>, nonce: [UInt8] = []) -> [UInt8] {
        var hash = SHA256()
        nonce.withUnsafeBytes { hash.update(bufferPointer: $0) }
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return [UInt8](hash.finalize())
    }
}
