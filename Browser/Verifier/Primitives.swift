// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

// The primitives alone, so that outside vectors and another library can be held against them.

/// Ed25519. Input: key, message, signature, each with its length. Result: 1 valid, 0 not, -1 the call is malformed.
@_cdecl("signet_ed25519") public func signetEd25519() -> Int32 {
    guard let (key, message, signature) = Fields.three() else { return -1 }
    guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return 0 }
    return key.isValidSignature(signature, for: message) ? 1 : 0
}

/// ECDSA over P-256 with SHA-256. Input: compressed key, message, r || s, each with its length. Result: as above.
@_cdecl("signet_p256") public func signetP256() -> Int32 {
    guard let (key, message, signature) = Fields.three() else { return -1 }
    guard let key = try? P256.Signing.PublicKey(compressedRepresentation: key),
        let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
    else { return 0 }
    return key.isValidSignature(signature, for: message[...]) ? 1 : 0
}

/// The output is SHA-256, SHA-512 and HMAC-SHA-256 (key, message) of: key, message, nothing; each with its length.
@_cdecl("signet_sha2") public func signetSHA2() -> Int32 {
    guard let (key, message, _) = Fields.three() else { return -1 }
    var long = SHA512()
    long.update(data: message)
    output = Array(SHA256.hash(data: message)) + Array(long.finalize())
    output += Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
    return 1
}
