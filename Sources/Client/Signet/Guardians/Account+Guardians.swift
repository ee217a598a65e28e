public import DeviceIdentity
public import KeyTransparency
import NotesClient
public import RecoveryClient
import SignetAPI
import SignetClient
import SitesClient
public import SocialRecovery

/// The people who together can give the user their identity back. Each keeps one part, which alone is useless, and none is told who the
/// others are.
extension Account {
    /// Chooses guardians, and asks them. Each says that they keep their part by looking once; ``guardians(_:)`` puts them in force then.
    /// The same call again sends to those who have not answered.
    ///
    /// - Parameters:
    ///   - people: whom the user added and accepted. How they and the user met is what this device keeps of a comparison.
    ///   - threshold: how many of them together recover the identity.
    ///   - wait: how long the user's other devices can stop a recovery. Friends cannot check 75 minutes or less.
    ///   - isReplacing: whether there are guardians, who stay in force until enough of the new ones have answered.
    ///   - approval: of `.setUpGuardians`.
    /// - Throws: ``SignetError``.
    public func chooseGuardians(
        _ people: [Handle], threshold: Int = 3, wait: Duration = .seconds(RecoveryCommitment.standardDelay),
        isReplacing: Bool = false, _ approval: consuming Approval
    ) async throws(SignetError) -> RecoverySetup {
        try check(approval, is: .setUpGuardians)
        var chosen: [(handle: Handle, meeting: MeetingEvidence)] = []
        for handle in people { chosen.append((handle, try await home.meeting(with: handle))) }
        let entries = try await guardedThings(approval).entries
        let delay = UInt32(clamping: wait.components.seconds)
        return try await owning { [chosen] side throws(RecoveryClientError) in
            try await side.ask(
                chosen, threshold: threshold, delay: delay, isReplacing: isReplacing, bringingBack: entries)
        }
    }

    /// Gives the guardians whom the user has new parts: for whenever somebody may have seen what one of them keeps. What is written from
    /// then on is beyond the parts from before, which stay in force until enough of the new ones are kept.
    ///
    /// - Parameter approval: of `.setUpGuardians`.
    /// - Throws: ``SignetError``.
    public func refreshGuardians(_ approval: consuming Approval) async throws(SignetError) -> RecoverySetup {
        try check(approval, is: .setUpGuardians)
        try await owning { side throws(RecoveryClientError) in try await side.checkChosenHere() }
        let entries = try await guardedThings(approval).entries
        return try await owning { side throws(RecoveryClientError) in try await side.refresh(bringingBack: entries) }
    }

    /// Who guards, and who of those who were asked keeps their part. Puts these in force once there are enough, and has guardians guard
    /// what is new, without asking any of them.
    ///
    /// - Parameter approval: of ``OpenHome/guardiansAction()``.
    /// - Throws: ``SignetError``: `.recovery(.noGuardians)` when there are none.
    public func guardians(_ approval: consuming Approval) async throws(SignetError) -> Guardianship {
        try check(approval, is: try await home.guardiansAction())
        let refusal = try await putInForce()
        let (current, next, check) = try await owning { side throws(RecoveryClientError) in
            let next = try side.next()
            return (next == nil ? try side.current() : try await side.inForceHere(), next, try side.check())
        }
        var things = try await guardedThings(approval)
        var turned: (areNotes: Bool, sites: [VerifiedHost]) = (false, [])
        if next == nil { turned = try await turn(&things) }
        let entries = things.entries
        let news = try await owning { side throws(RecoveryClientError) in try await side.guardNews(entries) }
        guard current != nil || next != nil || news != nil else { throw .recovery(.noGuardians) }
        return Guardianship(
            current: current, next: next, lastCheck: check,
            comparisons: try await comparisons(with: [current, next]), guarded: news,
            guardedSiteCount: things.sites.count, areNotesTurned: turned.areNotes, sitesToTurn: turned.sites,
            refusal: refusal)
    }

    /// Asks all of them whether they still keep their part. Each answers by looking; ``rehearse(_:)`` says what came of it.
    ///
    /// - Throws: ``SignetError``.
    public func checkGuardians() async throws(SignetError) {
        try await owning { side throws(RecoveryClientError) in try await side.beginCheck() }
    }

    /// Whether those who answered the last check would recover the user.
    ///
    /// - Parameter approval: of ``OpenHome/guardiansAction()``.
    /// - Returns: nil if nobody was asked yet.
    /// - Throws: ``SignetError``: also when there is nobody whom one could ask.
    public func rehearse(_ approval: consuming Approval) async throws(SignetError) -> GuardianStanding? {
        try check(approval, is: try await home.guardiansAction())
        return try await owning { side throws(RecoveryClientError) in
            try await side.advance()
            if let standing = try side.check()?.standing { return standing }
            try await side.checkInForce()
            return nil
        }
    }

    /// Asks those again who have not answered since they were chosen.
    ///
    /// - Parameter approval: of `.setUpGuardians`.
    /// - Throws: ``SignetError``.
    public func remindGuardians(_ approval: consuming Approval) async throws(SignetError) -> RecoverySetup {
        try check(approval, is: .setUpGuardians)
        return try await owning { side throws(RecoveryClientError) in try await side.remind() }
    }

    /// Gives up those who are being asked, if too few of them answer. Guardians who are in force stay.
    ///
    /// - Parameter approval: of `.setUpGuardians`.
    /// - Returns: who was asked.
    /// - Throws: ``SignetError``.
    public func withdrawGuardians(_ approval: consuming Approval) async throws(SignetError) -> [Handle] {
        try check(approval, is: .setUpGuardians)
        return try await owning { side throws(RecoveryClientError) in try side.withdraw() }
    }

    /// A line to keep on paper: with it the user begins a recovery without a guardian. It lets whoever has it ask, and nothing more.
    ///
    /// - Parameter approval: of `.showPaperShare`.
    /// - Throws: ``SignetError``.
    public func recoveryPaper(_ approval: consuming Approval) async throws(SignetError) -> String {
        try check(approval, is: .showPaperShare)
        let paper = try await owning { side throws(RecoveryClientError) in try await side.paper() }
        return String(decoding: paper, as: UTF8.self)
    }

    // MARK: "This was not me"

    /// An objection for guardians to any recovery of the user's identity, to be given to them in whatever way; nothing is sent. Made
    /// before ``stopRecovery(_:)``, which a directory may refuse.
    ///
    /// - Parameter approval: of `.cancelRecovery`.
    /// - Throws: ``SignetError``.
    public func objection(_ approval: borrowing Approval) async throws(SignetError) -> GuardianObjection {
        try check(approval, is: .cancelRecovery)
        return try await owning { side throws(RecoveryClientError) in try await side.objection() }
    }

    /// Stops a recovery that was not the user: the log is told, and the guardians whom this device knows. Any device of the account may,
    /// and nothing new can begin for a day.
    ///
    /// - Parameter approval: of `.cancelRecovery`.
    /// - Throws: ``SignetError``; guardians were told even if the log was not.
    public func stopRecovery(_ approval: consuming Approval) async throws(SignetError) {
        try check(approval, is: .cancelRecovery)
        _ = try await owning { side throws(RecoveryClientError) in try await side.stopRecovery() }
    }

    // MARK: Inside

    /// - Returns: why those who were asked do not take the place of those in force, although enough have answered: nothing that keeps
    ///   the user from seeing who guards.
    private func putInForce() async throws(SignetError) -> GuardianRefusal? {
        do throws(SignetError) {
            try await owning { side throws(RecoveryClientError) in try await side.advance() }
            return nil
        } catch {
            switch error {
            case .recovery(.somebodyAsks): return .somebodyAsks
            case .recovery(.changedTooSoon(let until)): return .changedTooSoon(until: until)
            default: throw error
            }
        }
    }

    /// Once other parts are in force: gives the notes another key, if the newest is one that the parts from before open.
    ///
    /// - Returns: whether the notes have another key by this; and the sites whose recovery key those parts open. Each gets another one at
    ///   a time of its own: all at once would tell the sites who is one person.
    private func turn(_ things: inout GuardedThings) async throws(SignetError) -> (areNotes: Bool, [VerifiedHost]) {
        let (before, newest, sites) = (things.newestNotesKey, Array(things.notes.suffix(1)), things.sites)
        let (oldKeys, oldSites) = try await owning { side throws(RecoveryClientError) in
            (try side.openedByFormerParts(newest), try side.openedByFormerParts(sites))
        }
        if !oldKeys.isEmpty {
            things.notes = try await storedNotes { book throws(NotesError) in
                _ = try await book.rotate()
                return try await book.recoveryEntries()
            }
        }
        return (things.newestNotesKey != before, oldSites.compactMap(\.siteHost))
    }

    /// What is kept now of a comparison with each, which is not what was kept when they were chosen.
    private func comparisons(with setups: [RecoverySetup?]) async throws(SignetError) -> [Handle: ComparisonState] {
        var states: [Handle: ComparisonState] = [:]
        for guardian in setups.flatMap({ $0?.guardians ?? [] }) where states[guardian.key.handle] == nil {
            do throws(ClientError) {
                states[guardian.key.handle] = try await home.client.comparison(with: guardian.key.handle)
            } catch { throw .client(error) }
        }
        return states
    }
}

extension OpenHome {
    /// What looking at the own guardians is: while some are asked who are not in force yet, it may put them in force, and the user is asked
    /// about that by its own name.
    ///
    /// - Throws: ``SignetError``.
    public func guardiansAction() async throws(SignetError) -> PresenceAction {
        let isAsking = try await recovering { home throws(RecoveryClientError) in
            try RecoveryFiles(in: home.folder).isAsking
        }.value
        return isAsking ? .setUpGuardians : .updateAccount
    }

    /// How the user and somebody met, by what this device keeps of a comparison: the day is that of the meeting, as the user gave it when
    /// they compared.
    ///
    /// - Throws: ``SignetError``.
    public func meeting(with handle: Handle) async throws(SignetError) -> MeetingEvidence {
        let comparison: Comparison?
        do { comparison = try await client.comparison(with: handle).comparison } catch { throw .client(error) }
        return switch (comparison, comparison?.metOn) {
        case (nil, _): MeetingEvidence(kind: .none, date: 0)
        case (let comparison?, nil): MeetingEvidence(kind: .code, date: comparison.time)
        case (.some, let day?): MeetingEvidence(kind: .person, date: day * 86_400)
        }
    }
}

extension OwnerSide {
    /// - Returns: nil if those in force are of another device of the user's.
    fileprivate func inForceHere() async throws(RecoveryClientError) -> RecoverySetup? {
        do { return try await inForce() } catch .guardiansElsewhere { return nil }
    }
}

extension JournalEntry {
    /// The site whose recovery key it is.
    var siteHost: VerifiedHost? { if case .siteRecovery(let host, _) = self { host } else { nil } }
}

/// Who guards the user, and what.
public struct Guardianship: Sendable {
    /// Those in force whom this device chose; nil if there are none, or another device of the account chose them.
    public let current: RecoverySetup?
    /// Those who are being asked.
    public let next: RecoverySetup?
    /// The last check of those in force.
    public let lastCheck: GuardianCheckRecord?
    /// What is kept now of a comparison with each.
    public let comparisons: [Handle: ComparisonState]
    /// What they guard by now; nil when none are in force.
    public let guarded: GuardedNews?
    /// How many sites a recovery brings back.
    public let guardedSiteCount: Int
    /// Whether the notes have just got another key, which parts from before do not open. A paper of the guardians from before is void.
    public let areNotesTurned: Bool
    /// Sites whose recovery key parts from before still open: each is to be given a new one, at a time of its own.
    public let sitesToTurn: [VerifiedHost]
    /// Why those who are being asked are not in force, although enough of them have answered.
    public let refusal: GuardianRefusal?
}

/// Why guardians do not take the place of those before them yet.
public enum GuardianRefusal: Hashable, Sendable {
    /// Somebody asks for the user's identity: that has to end first.
    case somebodyAsks
    /// The guardians changed just before; until then, in seconds since 1970, a recovery may begin with those from before.
    case changedTooSoon(until: UInt64)

    /// As the step said it.
    package var error: RecoveryClientError {
        switch self {
        case .somebodyAsks: .somebodyAsks
        case .changedTooSoon(let until): .changedTooSoon(until: until)
        }
    }
}
