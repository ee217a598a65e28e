// SPDX-License-Identifier: Apache-2.0

import Crypto
import DIDKey
public import SelectiveDisclosure
public import StrictJSON

extension TrustedIssuer {
    /// An issuer whose name is its key.
    ///
    /// - Parameter did: a did:key of a P-256 key.
    /// - Returns: nil for any other text.
    public init?(did: JSONText) {
        guard let name = try? KeyDID(decoding: did.utf8), name.algorithm == .p256,
            let key = try? P256.Signing.PublicKey(compressedRepresentation: name.publicKey)
        else { return nil }
        self.init(identifier: did, key: key)
    }
}
