// SPDX-License-Identifier: Apache-2.0

public import Signet
public import SignetCalls
public import TransparencyLog

/// The sentences of the app that are not about its pages: those of the command line, which has them all. A person therefore reads the same words
/// in both, and each sentence stands in one place.
public protocol WebWording: Sendable {
    /// Why something was not done.
    ///
    /// - Parameter home: nil if there is none yet.
    func advice(_ error: SignetError, in home: OpenHome?) -> Advice
    /// Why an account was not registered.
    func advice(_ error: SignetError, registering handle: Handle, in home: OpenHome?) -> Advice
    /// That a new passphrase was typed in two ways.
    var differingPassphrases: Advice { get }
    /// What the daily check found.
    func advice(_ finding: WatchFinding, in home: OpenHome) -> Advice
    /// A change of a person's devices or identity that waits for the user.
    func advice(_ change: KeyChange, _ comparison: ComparisonState, in home: OpenHome) -> Advice
    /// Why a note, or a change to it, stays closed.
    func advice(_ lock: NoteLock) -> Advice
    /// Why a change waits to be sent.
    func advice(_ problem: PushProblem) -> Advice
    /// What was compared with a person, and when.
    func words(_ comparison: Comparison) -> String
    /// How a person's keys differ from those that were accepted.
    func words(_ change: PeerKeyChange) -> String
    /// How a person and the user met, and when.
    func words(_ meeting: MeetingEvidence, with owner: Handle) -> String
    /// A span of time, given in seconds.
    func words(ofWait seconds: UInt64) -> String
    /// How a recovery stands.
    func words(_ progress: RecoveryProgress) -> RecoveryWords
    /// Whether the guardians who answered could bring the identity back, and how many more may fail.
    func words(_ standing: GuardianStanding) -> String
    /// What a recovery did not bring back.
    func shortfall(_ things: RecoveredThings) -> [String]
    /// Where the account's keys are.
    func words(_ keystore: Keystore) -> String
    /// What did not become of the user's notes when a device was removed; nil if all did.
    func words(_ notes: RevokedNotes, in home: OpenHome) -> String?
    /// Why there is no call.
    func advice(_ failure: CallFailure, in home: OpenHome) -> Advice
    /// What was said of a call; nil where there is nothing to say.
    ///
    /// - Parameter name: names a device of the call; nil for one of no one in it.
    func remark(_ notice: CallNotice, naming name: (CallDevice) -> String?) -> CallRemark?
    /// What came of a ring; nil where there is nothing to say.
    func remark(_ event: RingEvent) -> CallRemark?
    /// Who asks for a card, why, and what they would see: a sentence each.
    func words(_ consent: CardConsent) -> [String]
    /// Why something was not done at a site.
    func advice(_ error: SignetError, at place: String, in home: OpenHome) -> Advice
    /// A card that an issuer made: its name, and what is to be known of it.
    func words(_ card: IssuedCard) -> CardWords
    /// Who offers a card, and what would come: a sentence each.
    func words(_ offer: CardOffer, copies: Int) -> [String]
    /// Why something that people give each other in a meeting was not taken.
    func words(_ refusal: MeetingRefusal) -> String
    /// Why there is no receipt of a meeting; nil if the user wanted none, or has one.
    func words(onMissingReceiptOf kept: KeptInPerson, isWanted: Bool) -> String?
    /// What a step did to a note, behind the name of the person who took it.
    func words(_ action: ControlAction) -> String
    /// Why a file has no policy.
    func advice(_ error: PolicyFileError, named name: String) -> Advice
    /// Why a file is not a proof.
    func advice(_ error: TlogProofError) -> Advice
    /// Why a proof does not hold.
    func advice(_ error: TlogProofVerificationError) -> Advice
    /// What a proof proves.
    func words(_ proof: LookupProof, _ checkpoint: VerifiedCheckpoint) -> [String]
    /// A lookup of which every check passed.
    func checks(_ answer: LookupAnswer, _ comparison: ComparisonState, in home: OpenHome) -> CheckedLookup
    /// A lookup that failed a check.
    func checks(_ refusal: LookupRefusal, in home: OpenHome) -> CheckedLookup
}
