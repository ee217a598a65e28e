// SPDX-License-Identifier: Apache-2.0

import CBOR
import Crypto

/// A public P-256 key as a COSE_Key.
///
/// Spec: RFC 9052, section 7; RFC 9053, section 7.1.1.
enum COSEKey {
    /// The key of a map that has both coordinates in full and no private part; nil for every other map.
    static func signingKey(_ map: CBORMap) -> P256.Signing.PublicKey? {
        guard map[1] == 2, map[-1] == 1, map[-4] == nil, let x = map[-2]?.bytes, let y = map[-3]?.bytes,
            x.count == 32, y.count == 32
        else { return nil }
        return try? P256.Signing.PublicKey(rawRepresentation: x + y)
    }

    /// A map with the members of a public key and no others.
    static func value(_ key: P256.Signing.PublicKey) -> CBORValue {
        let point = Array(key.rawRepresentation)
        return .fields([1: 2, -1: 1, -2: .bytes(Array(point[..<32])), -3: .bytes(Array(point[32...]))])
    }
}
