// SPDX-License-Identifier: Apache-2.0

public import CallClient
import KeyTransparency
public import Signet
import SignetClient

/// Why there is no call.
///
/// Security: the description names the case. It contains no handle, no key and nothing that a server sent.
public enum CallFailure: Error, Hashable, Sendable {
    /// A person's keys differ from those that the user accepted: show the change, and ask. Once it is accepted, the call is
    /// tried again.
    case changed(KeyChange)
    /// A person cannot be called. No one has been told of a call.
    case trust(CallTrustError)
    /// The call could not be entered.
    case entry(CallEntryError)
    /// The account failed.
    case account(SignetError)
}

extension CallFailure: CustomStringConvertible {
    /// What happened, and what to do about it, in one line.
    public var description: String { "\(explanation.what) \(explanation.remedy)" }

    /// The explanation for the user.
    public var explanation: Explanation {
        switch self {
        case .changed(let change): SignetError.changed(change).explanation
        case .trust(.lookup(_, let error)): SignetError.client(error).explanation
        case .trust(.stranger(let handle)): SignetError.stranger(handle).explanation
        case .trust(.changed):
            Explanation("Keys change faster than they can be looked at.", "No one was called. Try again later.")
        case .trust(.contradicted):
            Explanation(
                "The directory contradicts what it proved of this person before.",
                "No one was called. Do not use this directory until its operator has explained this.")
        case .entry(.address), .entry(.frames), .entry(.signals):
            Explanation("The directory's relays cannot be reached.", "Check the network, and try again.")
        case .entry(.ticket(let error)): SignetError.client(error).explanation
        case .entry(.notInCall):
            Explanation("There is no such call, or this device is not in it.", "Ask the person who started it.")
        case .entry(.noRelay):
            Explanation("The directory relays no frames of calls.", "Ask the directory's operator.")
        case .account(let error): error.explanation
        }
    }
}
