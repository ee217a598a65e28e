// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import KeyTransparency
import PinnedHTTP
import Signet
import SignetAPI
import SignetCalls

extension CommandFailure {
    /// Why there is no call.
    init(_ error: CallFailure, session: Session) {
        switch error {
        case .changed(let change): self.init(CallTrustError.changed(change.handle), session: session)
        case .trust(let error): self.init(error, session: session)
        case .entry(let error): self.init(error, session: session)
        case .account(let error): self.init(error, session: session)
        }
    }

    /// Why there is no call with these people.
    init(_ error: CallTrustError, session: Session) {
        switch error {
        case .lookup(_, let error): self.init(error, session: session)
        case .changed(let handle):
            self.init(
                .needsDecision, "\(handle)'s devices have changed since you accepted them. There is no call.",
                "Look at the change with 'signet lookup \(handle)', and accept it with 'signet people trust' if it is theirs."
            )
        case .stranger(let handle):
            self.init(
                .needsDecision,
                "You have not added \(handle), so there is nothing to vouch for their keys. There is no call.",
                "Add them with 'signet people add \(handle)'.")
        case .contradicted(let handle):
            self.init(
                .notProven, "The directory contradicts what it proved about \(handle) before. There is no call.",
                "Keep this folder, and tell \(handle) over another channel.")
        }
    }

    /// Why a call was not entered.
    init(_ error: CallEntryError, session: Session) {
        let directory = session.profile.url
        switch error {
        case .address(let error): self.init(.badFile, error.sentence(directory))
        case .signals(let error): self.init(signals: error, session: session)
        case .ticket(let error): self.init(error, session: session)
        case .notInCall:
            self.init(.notProven, "The directory does not know that this device is in the call.", "Try again.")
        case .noRelay:
            self.init(.notProven, "The directory relays no call frames.", "Ask the operator of \(directory).")
        case .frames:
            self.init(
                .environment, "Could not reach the media relay at \(directory).", "Check the network, and try again.")
        }
    }

    private init(signals error: RelayClientError, session: Session) {
        let directory = session.profile.url
        switch error {
        case .denied(let code, _): self.init(ClientError.refused(code, retryAfter: nil), session: session)
        case .refused(.notInvited):
            self.init(
                .notProven, "There is no such call, or you are not invited to it.",
                "Check its name, and ask the person who started it.")
        case .refused(.callFull):
            self.init(
                .notProven, "The call has \(Roster.maximumPresentCount) devices, the maximum for a call.",
                "Try again when someone has left.")
        case .refused, .refusedOtherwise:
            self.init(
                .notProven, "The directory refuses to carry the call's signals.", "Ask the operator of \(directory).")
        case .connection(.transport(let error)):
            self.init(error.family == .environment ? .environment : .notProven, error.sentence(directory))
        case .timedOut, .tooMuch, .closed, .connection:
            self.init(.environment, "The directory does not answer.", "Try again, or ask the operator of \(directory).")
        case .keystore: self.init(.bug, "The device's key cannot sign.", CommandFailure.bugRemedy)
        }
    }
}
