// SPDX-License-Identifier: Apache-2.0

/// What a signal says.
///
/// Wire form: u8 kind, then the fields of the kind.
public enum SignalBody: Hashable, Sendable {
    /// 1. A device wants to be a member; the welcome is a ``reply(_:)`` to this nonce. Field: nonce (16).
    case join(SignalNonce)
    /// 2. A member leaves.
    case leave
    /// 3. The host changed the roster without fresh randomness, because a device joined.
    case roster(RosterChange)
    /// 4. The host made fresh randomness: the eCall guide's `.key_rotation`.
    case rotation(KeyRotation)
    /// 5. A member has the secret of this epoch.
    case ack(Epoch)
    /// 6. The host lets members send under this epoch.
    case commit(Epoch)
    /// 7. A member lacks a secret: the guide's `.request_aes_key`.
    case request(KeyRequest)
    /// 8. The answer, and the welcome of who joins: the guide's `.send_aes_key`.
    case reply(KeyReply)
    /// 9. A sign of life, every two seconds.
    case heartbeat(Heartbeat)
    /// 10. A host gives up its tenure for another's, after a partition: its members join there.
    case yield(Yielding)
    /// 11. A member that another host led, with its keys still there, wants to be let in after a partition: like a ``join(_:)``, but the
    /// number that its frames carry may stay, for it forgot no counter. Field: nonce (16).
    case reunite(SignalNonce)
    /// 12. The call is on: the device of a participant rings. Not for members.
    case ring(Ring)
    /// 13. What a device that rings says. Not for members.
    case ringAnswer(RingAnswer)
    /// 14. A device that rings is to stop. Not for members.
    case ringEnd(RingEnd)
    /// 15. What the sender sent lately; as a packet beside the signals.
    case digest(FrameDigest)
}

/// For whom a host gives up its tenure.
///
/// Wire form: 32-byte key of the other host, u32 its term.
public struct Yielding: Hashable, Sendable {
    /// The other host.
    public let host: CallDevice
    /// Its term.
    public let term: UInt32

    /// A yielding.
    public init(to host: CallDevice, term: UInt32) {
        self.host = host
        self.term = term
    }
}

/// A new roster, and from which steps on the new member can read.
///
/// Wire form: roster, u8 count, that many epochs (9 each).
public struct RosterChange: Hashable, Sendable {
    /// Who is in the call now.
    public let roster: Roster
    /// For each generation in use, the lowest step in which anyone may send from now on.
    public let floors: [Epoch]

    /// A change.
    public init(roster: Roster, floors: [Epoch]) {
        self.roster = roster
        self.floors = floors
    }
}

/// Why the host made fresh randomness.
public enum RotationReason: UInt8, Hashable, Sendable, CaseIterable {
    /// Its time had come.
    case timer = 1
    /// A member left.
    case leave = 2
    /// A device came back without keys, or the steps ran out.
    case join = 3
    /// The key may be known to others.
    case suspicion = 4
    /// A new host begins.
    case succession = 5
}

/// Fresh randomness for all members.
///
/// Wire form: epoch (9), u8 reason, 32-byte commitment, u64 not-before, roster, wraps.
public struct KeyRotation: Hashable, Sendable {
    /// The new epoch, step 0.
    public let epoch: Epoch
    /// Why.
    public let reason: RotationReason
    /// A commitment to the secret that reveals nothing about it, 32 bytes: with it, every member gets the same secret
    /// in a rotation, or notices.
    public let commitment: [UInt8]
    /// `keyRotationTimestamp`: no member sends under the epoch earlier, by its own clock, in milliseconds since 1970.
    /// Advisory: a receiver honours it for as long as it would wait for a commit, and no longer.
    public let notBefore: UInt64
    /// Who is in the call from now on.
    public let roster: Roster
    /// The guide's `encryptedAESKey`, for every member but the host.
    public let wraps: [KeyWrap]

    /// A rotation; `commitment` is 32 bytes.
    public init(
        epoch: Epoch, reason: RotationReason, commitment: [UInt8], notBefore: UInt64, roster: Roster, wraps: [KeyWrap]
    ) {
        self.epoch = epoch
        self.reason = reason
        self.commitment = commitment
        self.notBefore = notBefore
        self.roster = roster
        self.wraps = wraps
    }

    /// The same with other wraps.
    public func with(wraps: [KeyWrap]) -> KeyRotation {
        KeyRotation(
            epoch: epoch, reason: reason, commitment: commitment, notBefore: notBefore, roster: roster, wraps: wraps)
    }
}

/// Why a member asks for a secret.
public enum KeyRequestReason: UInt8, Hashable, Sendable, CaseIterable {
    /// Video or data could not be opened: the guide's `mediaDecryptFailed`.
    case mediaDecryptFailed = 1
    /// Audio could not be opened: the guide's `audioDecryptFailed`.
    case audioDecryptFailed = 2
    /// A commit, heartbeat or roster spoke of something that never came.
    case signalMissed = 3
}

/// A member lacks a secret.
///
/// Wire form: 16-byte id, u8 reason, u32 generation.
public struct KeyRequest: Hashable, Sendable {
    /// Its name; the answer carries it, and a wrap of the answer opens with no other.
    public let id: SignalNonce
    /// Why.
    public let reason: KeyRequestReason
    /// The newest generation that the member has; 0 if none.
    public let newest: UInt32

    /// A request.
    public init(id: SignalNonce, reason: KeyRequestReason, newest: UInt32) {
        self.id = id
        self.reason = reason
        self.newest = newest
    }
}

/// Secrets for one member: an answer, or a welcome.
///
/// Wire form: 16-byte id, epoch in use (9), roster, wraps.
public struct KeyReply: Hashable, Sendable {
    /// The request, or the nonce of the join.
    public let id: SignalNonce
    /// In which epoch members send now.
    public let current: Epoch
    /// Who is in the call.
    public let roster: Roster
    /// One to three secrets, each with its epoch.
    public let wraps: [KeyWrap]

    /// A reply.
    public init(id: SignalNonce, current: Epoch, roster: Roster, wraps: [KeyWrap]) {
        self.id = id
        self.current = current
        self.roster = roster
        self.wraps = wraps
    }

    /// The same with other wraps.
    public func with(wraps: [KeyWrap]) -> KeyReply {
        KeyReply(id: id, current: current, roster: roster, wraps: wraps)
    }
}

/// A sign of life: from the host to all members; from a member to the host and, while the host is silent, to its
/// possible successors.
///
/// Wire form: epoch (9), u32 roster number, 32-byte roster hash, u16 heard, u8 1 if the sender is the host of the epoch's term, else 0.
public struct Heartbeat: Hashable, Sendable {
    /// In which epoch the sender sends.
    public let epoch: Epoch
    /// Number of the newest roster that the sender knows.
    public let rosterNumber: UInt32
    /// Its hash, 32 bytes.
    public let rosterHash: [UInt8]
    /// From how many other members the sender heard lately; of a host: how many said lately that they follow it.
    public let heard: UInt16
    /// Whether the sender is the host.
    public let isHost: Bool

    /// A sign of life; `rosterHash` is 32 bytes.
    public init(epoch: Epoch, rosterNumber: UInt32, rosterHash: [UInt8], heard: UInt16, isHost: Bool) {
        self.epoch = epoch
        self.rosterNumber = rosterNumber
        self.rosterHash = rosterHash
        self.heard = heard
        self.isHost = isHost
    }
}
