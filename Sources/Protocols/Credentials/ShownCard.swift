// SPDX-License-Identifier: Apache-2.0

public import SelectiveDisclosure
public import StrictJSON

/// A card that is shown to people, who have asked no question that it could answer: on a screen, as a code.
///
/// Spec: RFC 9901, section 4.3. The audience and the nonce are a profile of our own: the nonce is the minute.
///
/// Security: a photograph of the code can be shown in its place for as long as it counts, ``maximumAge`` seconds. That the person at hand
/// has the key is seen by asking them to show it once more. It is no login: every site asks under another audience.
public enum ShownCard {
    /// Nobody in particular.
    public static let audience: JSONText = "urn:signet:card"
    /// For how long a shown card counts, in seconds.
    public static let maximumAge: Int64 = 120
    /// How far the clock of the person who shows may be ahead, in seconds.
    public static let clockSkew: Int64 = 60
    private static let slotLength: Int64 = 60

    /// Judges a card that is shown.
    ///
    /// - Parameters:
    ///   - types: the types of cards that are taken.
    ///   - trust: whose cards are taken.
    ///   - now: seconds since 1970.
    /// - Throws: `PresentationFault`, the first check that fails. Shown once more, the card may pass.
    public static func verify(
        _ text: [UInt8], types: [JSONText], trusting trust: IssuerTrust, at now: Int64
    ) throws(PresentationFault) -> VerifiedPresentation {
        for slot in slots(now) {
            do throws(PresentationFault) { return try verify(text, types, trust, slot, now) } catch {
                guard error == .bindingNonce else { throw error }
            }
        }
        throw .bindingNonce
    }

    /// Judges a copy of a card, which nobody signed for this moment, such as the code of a ``WalletCard``.
    ///
    /// - Parameters:
    ///   - types: the types of cards that are taken.
    ///   - trust: whose cards are taken.
    ///   - now: seconds since 1970.
    /// - Throws: `PresentationFault`, the first check that fails. A card that is shown in person or to a site is refused, with
    ///   `bindingAudience`: this would not notice that it is an old one.
    ///
    /// Security: anyone who has seen a copy can show it.
    public static func verify(
        copy text: [UInt8], types: [JSONText], trusting trust: IssuerTrust, at now: Int64
    ) throws(PresentationFault) -> VerifiedPresentation {
        guard text.last == UInt8(ascii: "~") else { throw .bindingAudience }
        return try PresentationVerifier.verify(
            text, for: request(types, slot(now), isBound: false), trusting: trust, at: now)
    }

    private static func verify(
        _ text: [UInt8], _ types: [JSONText], _ trust: IssuerTrust, _ slot: JSONText, _ now: Int64
    ) throws(PresentationFault) -> VerifiedPresentation {
        try PresentationVerifier.verify(text, for: request(types, slot, isBound: true), trusting: trust, at: now)
    }

    private static func request(_ types: [JSONText], _ slot: JSONText, isBound: Bool) -> VerificationRequest {
        VerificationRequest(
            types: types,
            binding: .init(
                isRequired: isBound, audience: audience, nonce: slot, maximumAge: maximumAge, clockSkew: clockSkew))
    }

    /// The minutes in which a card that counts now may have been shown, this one first.
    private static func slots(_ now: Int64) -> [JSONText] {
        [0, -slotLength, -2 * slotLength, clockSkew].map { slot(now &+ $0) }
    }

    static func slot(_ now: Int64) -> JSONText {
        JSONText(String((now - ((now % slotLength) + slotLength) % slotLength) / slotLength))
    }
}
