// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency

/// What a lookup proved: keys and what they mean for this user, or that there are no keys.
public enum LookupAnswer: Hashable, Sendable {
    /// The handle is registered.
    case registered(LookupVerdict)
    /// The account was closed; `known` is the view of the log before this lookup, nil on the first visit.
    case closed(VerifiedClosure, known: LogView?)
    /// The handle is not registered.
    case absent(VerifiedAbsence, known: LogView?)

    /// The handle that the lookup was about.
    public var handle: Handle {
        switch self {
        case .registered(let verdict): verdict.handle
        case .closed(let closure, _): closure.handle
        case .absent(let absence, _): absence.handle
        }
    }

    /// The directory's epoch for which the answer holds.
    public var epoch: VerifiedEpoch {
        switch self {
        case .registered(let verdict): verdict.lookup.epoch
        case .closed(let closure, _): closure.epoch
        case .absent(let absence, _): absence.epoch
        }
    }

    /// The view of the log before this lookup; nil on the first visit.
    package var known: LogView? {
        switch self {
        case .registered(let verdict): verdict.known
        case .closed(_, let known), .absent(_, let known): known
        }
    }

    /// The verdict, for callers that cannot continue without keys.
    ///
    /// - Throws: ``ClientError/notRegistered(_:)``, ``ClientError/accountClosed(_:)``.
    public var verdict: LookupVerdict {
        get throws(ClientError) {
            switch self {
            case .registered(let verdict): return verdict
            case .closed(let closure, _): throw .accountClosed(closure)
            case .absent(let absence, _): throw .notRegistered(absence)
            }
        }
    }
}
