import KeyTransparency
import SignetAPI

/// A submission with the signed request that brought it: what the database keeps as evidence.
struct Statement: Sendable {
    let submission: StateSubmission
    let signature: RequestSignature
    /// When it came, in seconds since 1970.
    let time: UInt64

    var state: AccountState { submission.state }
    var opening: [UInt8] { submission.opening }

    /// Only ordinary steps are submitted; reset and close will have requests of their own.
    var kind: StateKind { .set }

    /// The cards one after the other; with state and opening they make up the body that was signed.
    var cards: [UInt8] { submission.cards.flatMap(\.encoded) }
}
