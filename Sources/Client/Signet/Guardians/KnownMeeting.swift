// SPDX-License-Identifier: Apache-2.0

public import RecoveryClient
import SignetClient
public import SocialRecovery

/// How a guardian and the person who asks them know each other, and who says so: what a guardian's screen shows first.
public enum KnownMeeting: Hashable, Sendable {
    /// They met on this day, counted from 1970-01-01: this device was there, and its own record of it opens.
    case checkedHere(day: UInt64)
    /// The user compared keys with the person on this device; a day of a meeting is the user's own word.
    case comparedHere(MeetingEvidence)
    /// The person stated it when they chose the user. Nothing proves it.
    case statedByThem(MeetingEvidence)
    /// Nobody says that they ever compared keys.
    case none
}

extension Account {
    /// How the user and the person who asks know each other: the best that this device knows, and else what the person stated.
    ///
    /// - Throws: ``SignetError``: the store cannot be read.
    public func knownMeeting(_ request: GuardianRequest) async throws(SignetError) -> KnownMeeting {
        let owner = request.guardianCase.owner
        if let record = try await meetingRecord(of: owner) { return .checkedHere(day: record.day) }
        let own = try await home.meeting(with: owner)
        if own.kind != .none { return .comparedHere(own) }
        return request.meeting.kind == .none ? .none : .statedByThem(request.meeting)
    }
}
