// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
public import KeyTransparency
import NotesClient
import RecoveryClient
import SignetAPI
import SignetClient
import SitesClient
public import SocialRecovery

/// The guardians, who together can restore the user's identity. Each keeps one part, which is useless alone, and none is told
/// who the others are.
extension Account {
    /// Chooses guardians, and asks them. Each guardian confirms that they keep their part by looking once; after that,
    /// ``guardians(_:)`` puts them in force. Calling this again sends to the guardians who have not answered.
    ///
    /// - Parameters:
    ///   - people: contacts whom the user added and accepted. How each of them and the user met is taken from what this device
    ///     stores of their comparison.
    ///   - threshold: how many guardians together recover the identity.
    ///   - wait: the period in which the user's other devices can stop a recovery. Friends cannot check a wait of 75 minutes or
    ///     less.
    ///   - isReplacing: whether the account already has guardians, who stay in force until enough of the new ones have
    ///     answered.
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

    /// Gives the user's guardians new parts. Use it whenever someone may have seen what a guardian keeps. The former parts do
    /// not open what is written from then on. They stay in force until enough of the new parts are kept.
    ///
    /// - Parameter approval: of `.setUpGuardians`.
    /// - Throws: ``SignetError``.
    public func refreshGuardians(_ approval: consuming Approval) async throws(SignetError) -> RecoverySetup {
        try check(approval, is: .setUpGuardians)
        try await owning { side throws(RecoveryClientError) in try await side.checkChosenHere() }
        let entries = try await guardedThings(approval).entries
        return try await owning { side throws(RecoveryClientError) in try await side.refresh(bringingBack: entries) }
    }

    /// The guardians in force, and which of the people who were asked keep their part. Puts the latter in force once there are
    /// enough, and has guardians guard what is new, without asking any of them.
    ///
    /// - Parameter approval: of ``OpenHome/guardiansAction()``.
    /// - Throws: ``SignetError``: `.recovery(.noGuardians)` if there are none.
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

    /// The guardians whom this device chose. It asks none of them and changes nothing, which ``guardians(_:)`` does.
    ///
    /// - Throws: ``SignetError``.
    public func chosenGuardians() async throws(SignetError) -> ChosenGuardians {
        let (current, next) = try await owning { side throws(RecoveryClientError) in
            (try await side.inForceHere(), try side.next())
        }
        return ChosenGuardians(
            current: current, next: next, comparisons: try await comparisons(with: [current, next]))
    }

    /// Asks all guardians whether they still keep their part. Each answers by looking; ``rehearse(_:)`` reports the result.
    ///
    /// - Throws: ``SignetError``.
    public func checkGuardians() async throws(SignetError) {
        try await owning { side throws(RecoveryClientError) in try await side.beginCheck() }
    }

    /// Whether the guardians who answered the last check could recover the user's identity.
    ///
    /// - Parameter approval: of ``OpenHome/guardiansAction()``.
    /// - Returns: nil if no guardian has been asked yet.
    /// - Throws: ``SignetError``, also if there are no guardians to ask.
    public func rehearse(_ approval: consuming Approval) async throws(SignetError) -> GuardianStanding? {
        try check(approval, is: try await home.guardiansAction())
        return try await owning { side throws(RecoveryClientError) in
            try await side.advance()
            if let standing = try side.check()?.standing { return standing }
            try await side.checkInForce()
            return nil
        }
    }

    /// Asks again those guardians who have not answered since they were chosen.
    ///
    /// - Parameter approval: of `.setUpGuardians`.
    /// - Throws: ``SignetError``.
    public func remindGuardians(_ approval: consuming Approval) async throws(SignetError) -> RecoverySetup {
        try check(approval, is: .setUpGuardians)
        return try await owning { side throws(RecoveryClientError) in try await side.remind() }
    }

    /// Withdraws the guardians who are being asked, if too few of them answer. Guardians who are in force stay.
    ///
    /// - Parameter approval: of `.setUpGuardians`.
    /// - Returns: the people who were asked.
    /// - Throws: ``SignetError``.
    public func withdrawGuardians(_ approval: consuming Approval) async throws(SignetError) -> [Handle] {
        try check(approval, is: .setUpGuardians)
        return try await owning { side throws(RecoveryClientError) in try side.withdraw() }
    }

    /// A line to keep on paper. With it, the user begins a recovery without a guardian. Its holder can ask for a recovery, and
    /// do nothing more.
    ///
    /// - Parameter approval: of `.showPaperShare`.
    /// - Throws: ``SignetError``.
    public func recoveryPaper(_ approval: consuming Approval) async throws(SignetError) -> String {
        try check(approval, is: .showPaperShare)
        let paper = try await owning { side throws(RecoveryClientError) in try await side.paper() }
        return String(decoding: paper, as: UTF8.self)
    }

    // MARK: "This was not me"

    /// An objection for guardians to any recovery of the user's identity, to be given to them over any channel; nothing is
    /// sent. It is made before ``stopRecovery(_:)``, which a directory may refuse.
    ///
    /// - Parameter approval: of `.cancelRecovery`.
    /// - Throws: ``SignetError``.
    public func objection(_ approval: borrowing Approval) async throws(SignetError) -> GuardianObjection {
        try check(approval, is: .cancelRecovery)
        return try await owning { side throws(RecoveryClientError) in try await side.objection() }
    }

    /// Stops a recovery that the user did not start: informs the log, and the guardians whom this device knows. Any device of
    /// the account may do so, and nothing new can begin for a day.
    ///
    /// - Parameter approval: of `.cancelRecovery`.
    /// - Throws: ``SignetError``; the guardians were informed even if the log was not.
    public func stopRecovery(_ approval: consuming Approval) async throws(SignetError) {
        try check(approval, is: .cancelRecovery)
        _ = try await owning { side throws(RecoveryClientError) in try await side.stopRecovery() }
    }

    // MARK: Inside

    /// - Returns: why the people who were asked do not replace the guardians in force, although enough of them have answered.
    ///   This does not keep the user from seeing who the guardians are.
    private func putInForce() async throws(SignetError) -> GuardianRefusal? {
        do throws(SignetError) {
            try await owning { side throws(RecoveryClientError) in try await side.advance() }
            return nil
        } catch {
            switch error {
            case .recovery(.recoveryIsOpen): return .recoveryIsOpen
            case .recovery(.changedTooSoon(let until)): return .changedTooSoon(until: until)
            default: throw error
            }
        }
    }

    /// Once the new parts are in force: gives the notes another key if the former parts open the newest one.
    ///
    /// - Returns: whether this gave the notes another key, and the sites whose recovery key the former parts open. Each site
    ///   gets a new key at a different time: if all got theirs at once, the sites would learn that one person has them all.
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

    /// The comparison that is now stored with each guardian, which may differ from the one stored when they were chosen.
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
    /// The action to approve for looking at the user's own guardians. While people who are not in force yet are being
    /// asked, looking may put them in force, and the user is asked to approve that by its own name.
    ///
    /// - Throws: ``SignetError``.
    public func guardiansAction() async throws(SignetError) -> PresenceAction {
        let isAsking = try await recovering { home throws(RecoveryClientError) in
            try RecoveryFiles(in: home.folder).isAsking
        }.value
        return isAsking ? .setUpGuardians : .updateAccount
    }

    /// How the user and a person met, from what this device stores of a comparison. The day is that of the meeting, as the user
    /// entered it when they compared.
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
    /// - Returns: nil if another device of the user chose the guardians in force.
    fileprivate func inForceHere() async throws(RecoveryClientError) -> RecoverySetup? {
        do { return try await inForce() } catch .guardiansElsewhere { return nil }
    }
}

extension JournalEntry {
    /// The site to which the recovery key belongs.
    var siteHost: VerifiedHost? { if case .siteRecovery(let host, _) = self { host } else { nil } }
}
