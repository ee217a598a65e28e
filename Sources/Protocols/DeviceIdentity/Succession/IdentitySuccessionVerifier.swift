public import KeyTransparency

/// What a client has read of a recovery in the log, proven by inclusion in a checkpoint that it verified.
public struct LoggedRecovery: Hashable, Sendable {
    /// SHA-256 of the request, 32 bytes.
    public let request: [UInt8]
    /// When the log says that the time for objections ends, in seconds since 1970.
    public let notBefore: UInt64

    /// What the log says. Only whoever checked the inclusion should make one.
    ///
    /// Security: nothing is verified here.
    public init(uncheckedRequest request: [UInt8], notBefore: UInt64) {
        self.request = request
        self.notBefore = notBefore
    }
}

/// A new identity key that provably follows the old one. Only ``IdentitySuccessionVerifier`` makes one.
public struct VerifiedIdentitySuccession: Hashable, Sendable {
    /// What was verified.
    public let succession: IdentitySuccession
    /// Whether guardians made it possible, rather than the old key.
    public var isRecovery: Bool { succession.authority != .identityKey }

    init(_ succession: IdentitySuccession) { self.succession = succession }
}

/// Whether a new identity key may follow the old one: the checks in their order, one line each.
public enum IdentitySuccessionVerifier {
    /// Verifies a succession.
    ///
    /// - Parameters:
    ///   - state: the last state under the old key, from a verified lookup or what was pinned.
    ///   - logged: the recovery that the log has under way for the account; nil when there is none, or it was cancelled.
    ///   - now: the time that the log's quorum vouches for, in seconds since 1970.
    /// - Throws: ``IdentitySuccessionError``: the key must not be accepted.
    public static func verify(
        _ succession: IdentitySuccession, of label: LabelIndex, after state: AccountState, logged: LoggedRecovery?,
        at now: UInt64
    ) throws(IdentitySuccessionError) -> VerifiedIdentitySuccession {
        guard succession.label == label else { throw .anotherAccount }
        guard succession.previousState == state.hash, succession.oldKey == state.identityKey else {
            throw .doesNotFollow
        }
        let authority = try authority(of: succession, state, logged, now)
        guard P256Text.isValid(succession.authoritySignature, over: succession.message, by: authority) else {
            throw .invalidAuthority
        }
        guard P256Text.isValid(succession.newSignature, over: succession.message, by: succession.newKey) else {
            throw .invalidNewSignature
        }
        return VerifiedIdentitySuccession(succession)
    }

    /// The key that has to have signed.
    private static func authority(
        of succession: IdentitySuccession, _ state: AccountState, _ logged: LoggedRecovery?, _ now: UInt64
    ) throws(IdentitySuccessionError) -> [UInt8] {
        guard case .recovery(let ground) = succession.authority else { return state.identityKey }
        guard let committed = state.recoveryCommitment else { throw .notRecoverable }
        guard ground.commitment.hash == committed, ground.isCommittedKey else { throw .notCommitted }
        guard let logged, logged.request == ground.request else { throw .noLoggedRequest }
        guard now >= logged.notBefore else { throw .tooEarly(until: logged.notBefore) }
        return ground.recoveryKey
    }
}

/// What a contact's client says of another identity key.
public enum IdentityKeyChange: Hashable, Sendable {
    /// The same key as pinned.
    case none
    /// The old key handed over to the new one. Nothing to worry about; may be pinned.
    case planned
    /// Amber: the person recovered their identity. Usable; compare again at the next meeting.
    case recovered
    /// Red: another key and no succession that leads to it. Not to be used.
    case unexplained

    /// Judges the key of a verified lookup.
    ///
    /// - Parameters:
    ///   - pinned: the identity key that was pinned, 33 bytes.
    ///   - current: the key of the lookup.
    ///   - successions: verified, from the pinned key onward, in order.
    public init(from pinned: [UInt8], to current: [UInt8], by successions: [VerifiedIdentitySuccession]) {
        var key = pinned
        for step in successions {
            guard step.succession.oldKey == key else {
                self = .unexplained
                return
            }
            key = step.succession.newKey
        }
        if key != current {
            self = .unexplained
        } else if successions.isEmpty {
            self = .none
        } else {
            self = successions.contains(where: \.isRecovery) ? .recovered : .planned
        }
    }
}
