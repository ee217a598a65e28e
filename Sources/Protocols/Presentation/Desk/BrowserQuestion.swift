// SPDX-License-Identifier: Apache-2.0

public import StrictJSON

/// What a site asks of a browser's session beside the card: a sign-in, and of a wallet on another device two digits.
public struct BrowserQuestion: Hashable, Sendable {
    /// A challenge of the site for this request alone, 32 bytes.
    public let challenge: [UInt8]
    /// The digits that the page shows; nil if the wallet is on the device of the browser, which takes the person back to it.
    public let digits: JSONText?

    /// A question; nil for a challenge of another length, and for what are not two digits.
    public init?(challenge: [UInt8], digits: JSONText?) {
        guard challenge.count == BrowserSignIn.challengeByteCount, digits.map(BrowserSignIn.isDigits) ?? true else {
            return nil
        }
        (self.challenge, self.digits) = (challenge, digits)
    }
}

/// A card that a site has seen and found good.
public struct ReceivedCard: Hashable, Sendable {
    /// Whose request it answers: the account or the session that was asked.
    public let asker: [UInt8]
    /// Where the wallet sends the person, with the response code; nil if the session on another device goes on by itself.
    public let address: JSONText?
    /// For a browser's session; nil for a member who has signed in.
    public let signIn: ReceivedSignIn?
}

/// What a wallet sent for a browser's session, with the challenge that the session was asked with. It is not verified.
public struct ReceivedSignIn: Hashable, Sendable {
    /// The site's, 32 bytes.
    public let challenge: [UInt8]
    /// What the wallet says is the person's key and its signature of the challenge.
    public let answer: [UInt8]
}
