// SPDX-License-Identifier: Apache-2.0

public import CardSigning
import SignetClient

/// Why a card for a wallet was not made. Nothing was kept of it.
public enum WalletCardFault: Error, Hashable, Sendable {
    /// The lines do not fit on a card or into its code. Show fewer.
    case tooLong
    /// The directory's server signs no cards.
    case noSigner
    /// What the server says of its signer, or what it signed, is not believed.
    case signer(CardSignerFault)
    /// The account has had all tokens of this month.
    case noneLeft

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .tooLong, .noneLeft: .caller
        case .noSigner, .signer: .peer
        }
    }

    var explanation: Explanation {
        switch self {
        case .tooLong: Explanation("The lines are too long for a card.", "Choose fewer of them.")
        case .noSigner:
            Explanation("The directory's server signs no cards for wallets.", "Ask the directory's operator for it.")
        case .signer:
            Explanation(
                "The server's signer of cards is not the one that the directory's log shows, or signed something else.",
                "Do not use it, and tell the directory's operator.")
        case .noneLeft:
            Explanation("All cards of this month have been signed.", "Try again next month.")
        }
    }
}
