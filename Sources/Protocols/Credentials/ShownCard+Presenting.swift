// SPDX-License-Identifier: Apache-2.0

public import SelectiveDisclosure
public import StrictJSON

extension ShownCard {
    /// Shows some of a card.
    ///
    /// - Parameters:
    ///   - names: the claims that go along.
    ///   - now: seconds since 1970.
    ///   - sign: gives r and s of the ECDSA signature by the key that the card is bound to.
    /// - Throws: what `sign` throws.
    public static func presented<Failure: Error>(
        _ card: HeldCredential, disclosing names: Set<JSONText>, at now: Int64,
        sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        try card.presented(
            disclosing: { $0.name.map(names.contains) ?? false }, audience: audience, nonce: slot(now), at: now,
            sign: sign)
    }
}
