// SPDX-License-Identifier: Apache-2.0

public import Crypto

extension WebKey {
    /// An agreement key.
    public init(_ key: P256.KeyAgreement.PublicKey) { self.init(coordinates: Array(key.rawRepresentation)) }

    /// The key for agreements; nil cannot happen, because every ``WebKey`` is a point of the curve.
    public var agreementKey: P256.KeyAgreement.PublicKey? {
        try? P256.KeyAgreement.PublicKey(rawRepresentation: coordinates)
    }
}
