// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import PinnedHTTP
public import SignetClient
public import SocialRecovery

/// Why a step with guardians was not taken.
public enum RecoveryClientError: Error, Hashable, Sendable {
    /// The directory did not answer, or not as it should.
    case client(ClientError)
    /// A file of the home folder could not be read or written.
    case file(FileFault)
    /// The file of that name in the home folder is not what this program wrote.
    case damaged(String)
    /// A file of the home folder was written by an older program, or what the server has was.
    case anotherVersion
    /// Removed devices added to what guardians guard, at an unknown time; refreshing the guardians mends it.
    case guardedByRemovedDevices
    /// The server's answer has not the form that it should.
    case malformedAnswer
    /// This device does not hold the identity.
    case identityElsewhere
    /// The user has not added this person, or has yet to accept a change of theirs.
    case notAccepted(Handle)
    /// The server keeps no more letters for them.
    case boxFull(Handle)
    /// There are no guardians, and none are being asked.
    case noGuardians
    /// The account has guardians, and this device knows nothing of them: another one chose them. Whether this one could choose.
    case chosenElsewhere(hasIdentity: Bool)
    /// Guardians are being asked for the first time, and too few have answered.
    case notInForceYet
    /// Every guardian who was asked has answered.
    case allHaveAnswered
    /// The account no longer lists this device: its signatures do not count.
    case removedDevice
    /// No set of guardians is being asked, or it is on its way into the log: nothing can be withdrawn.
    case noneAsked
    /// Guardians are there or being asked; replace them instead.
    case guardiansThere
    /// The guardians changed just before; until then a recovery may still begin with those from before.
    case changedTooSoon(until: UInt64)
    /// The log names other guardians than those whom this device put in force.
    case guardiansElsewhere
    /// A request for the user's own identity is open: it has to end first.
    case recoveryIsOpen
    /// This device belongs to the account: there is nothing to recover here.
    case listedDevice
    /// The set could not be made, or a guardian's answer proves nothing.
    case setup(RecoverySetupError)
    /// The user keeps nothing for this person.
    case notTheirGuardian(Handle)
    /// There is no request for this person's identity.
    case nobodyAsks(Handle)
    /// No request for this person's identity has the number.
    case noSuchNumber(Handle)
    /// The device that asks has not shown its number yet.
    case notRevealed
    /// The request is not what the log holds, or its step does not come now.
    case guardianCase(GuardianCaseError)
    /// The packet cannot be opened.
    case duty(GuardianDutyError)
    /// The account has no guardians: it cannot be recovered.
    case notRecoverable
    /// There is another request for this identity; until then no other request is accepted.
    case anotherAsks(until: UInt64)
    /// The log shows this device's own request, and what it kept of it is lost; nothing else can begin before then.
    case ownRequestLost(until: UInt64)
    /// The device of this number in the account objected; nothing starts before then.
    case frozen(by: UInt16, until: UInt64)
    /// The account's guardians were chosen with an older program: they cannot help until they are refreshed.
    case olderGuardians
    /// There are no guardians from before, or their time is over.
    case noFormerGuardians
    /// The paper is not of the guardians in force.
    case anotherPaper
    /// No guardian has confirmed the request yet.
    case nobodyConfirmed
    /// The request may not begin as it is; a bug, or a clock that is wrong.
    case start(RecoveryStepFault)
    /// The server keeps no more answers, or knows of no part that this device holds: the person has to be told.
    case answerRefused(Handle)
    /// No recovery is under way on this device.
    case noRecovery
    /// One of the owner's devices stopped it.
    case stopped
    /// The delay is not over.
    case tooEarly(until: UInt64)
    /// The recovery does not go on.
    case attempt(RecoveryAttemptError)
    /// The request could not be made; a bug.
    case request(RecoveryRequestError)
    /// Nothing is under way that could be stopped.
    case nothingToStop
    /// A state cannot be built; a bug.
    case account(AccountStateError)
    /// What the server keeps to be brought back is damaged or incomplete.
    case journal(RecoveryJournalError)
    /// The server lacks the recovery file for the active guardians, or a part of it; choosing guardians again mends it.
    case guardedThingsLost
    /// The server has nothing that a new device could read with the guardians' help. Any device of the account mends it.
    case guardedThingsUnreadable
    /// More than ``RecoveryFile/maximumByteCount`` bytes would have to be kept.
    case tooMuchToGuard
}

extension RecoveryClientError {
    /// Whether a retry may work: the network's or the disk's fault.
    public var isWorthARetry: Bool {
        switch self {
        case .client(let error): error.family == .environment
        case .file: true
        default: false
        }
    }

    /// Whether the directory gave an answer that fails a check: nothing about one person.
    var convictsTheDirectory: Bool {
        if case .client(let error) = self { error.family == .peer } else { false }
    }
}
