import Crypto
import KeyTransparency
import KeyTransparencyTesting
import Testing
import TransparencyLog

/// What a contact is told of another identity: amber after a logged recovery, red for everything else.
@Suite struct IdentityChangeTests {
    let account: RecoverableAccount

    init() throws { account = try RecoverableAccount() }

    /// Alice as one of her states has her.
    private func person(_ state: AccountState, kind: StateKind = .set) -> PaperPerson {
        var person = account.alice
        person.encodedState = state.encoded
        person.version = state.version
        person.devices = state.devices
        person.kind = kind
        return person
    }

    private func directory(_ people: [PaperPerson]) throws -> PaperDirectory {
        var directory = try PaperDirectory()
        for person in people { try directory.publish(person) }
        return directory
    }

    /// The decision about the last of these states, by somebody who pinned one of them.
    private func decide(
        _ people: [PaperPerson], pinned: PinnedPeer, hiding hidden: UInt64? = nil, at now: UInt64 = PaperDirectory.now
    ) throws -> (without: PeerTrustDecision, with: PeerTrustDecision) {
        let directory = try directory(people)
        let lookup = try PeerTrustTests.lookup(people[people.count - 1], in: directory)
        let label = try directory.label(account.alice.handle).hash
        var entries: [HistoryResponse.Entry] = []
        for bytes in directory.entries {
            switch try LogEntry(decoding: bytes) {
            case .device(let leaf) where leaf.label == label: entries.append(.device(leaf.publicKey))
            case .state(let record) where record.label == LabelIndex(label):
                let person = try #require(people.first { $0.version == record.version })
                entries.append(
                    record.version == hidden
                        ? .withheld(record.kind, version: record.version, record.commitment)
                        : .state(record.kind, opening: person.opening, encoded: person.encodedState))
            default: continue
            }
        }
        let answer = try directory.answer(about: people[people.count - 1]).response.encoded
        let history = try HistoryVerifier(trust: directory.trust()).verify(
            HistoryResponse(lookup: answer, entries: entries.dropLast()).encoded, for: account.alice.handle,
            knowing: nil, since: MerkleFrontier(), at: now)
        return (
            PeerTrustDecision(lookup, comparedWith: pinned),
            PeerTrustDecision(lookup, comparedWith: pinned, by: history)
        )
    }

    private func pin(_ people: [PaperPerson]) throws -> PinnedPeer {
        PinnedPeer(
            try PeerTrustTests.lookup(people[people.count - 1], in: directory(people)), at: PaperDirectory.now)
    }

    private func identity(_ decision: PeerTrustDecision) -> IdentityChange? {
        if case .mismatch(let change) = decision { change.identity } else { nil }
    }

    private var steps: [PaperPerson] {
        [account.first, account.committed, account.asked, account.recovered].map { person($0) }
    }

    @Test func aLoggedRecoveryIsAmberAndSaysWhen() throws {
        for count in 1...3 {
            let decision = try decide(steps, pinned: pin(Array(steps.prefix(count))))
            #expect(identity(decision.with) == .recovered(at: RecoverableAccount.ended))
            #expect(identity(decision.without) == .unexplained)
        }
    }

    @Test func aRecoveryUnderWayChangesNothingYet() throws {
        let pinned = try pin(Array(steps.prefix(2)))
        #expect(try decide(Array(steps.prefix(3)), pinned: pinned).without == .match)
        // What is pinned under a note is what the note is about.
        #expect(try pin(Array(steps.prefix(3))).stateHash == account.committed.hash)
        let stopped = person(try account.stopped(after: account.asked))
        let pinnedAsked = try pin(Array(steps.prefix(3)))
        #expect(try decide(Array(steps.prefix(3)) + [stopped], pinned: pinnedAsked).without == .match)
    }

    @Test func anotherIdentityWithoutASuccessionIsRed() throws {
        let alice = person(account.first)
        let people = [alice, try alice.next(identity: P256.Signing.PrivateKey())]
        #expect(try identity(decide(people, pinned: pin([people[0]])).with) == .unexplained)
    }

    @Test func aSuccessionThatSkipsItsDelayIsRed() throws {
        // The directory and enough guardians collude: nothing was logged before the succession.
        let quick = try RecoverableAccount.recovered(
            after: account.committed, account.start(), account.newIdentity, account.recoveryKey)
        let people = [person(account.first), person(account.committed), person(quick)]
        #expect(try identity(decide(people, pinned: pin(Array(people.prefix(2)))).with) == .unexplained)
    }

    @Test func aSuccessionAfterAnObjectionIsRed() throws {
        let stopped = try account.stopped(after: account.asked)
        let late = try RecoverableAccount.recovered(
            after: stopped, account.start(), account.newIdentity, account.recoveryKey)
        let people = Array(steps.prefix(3)) + [person(stopped), person(late)]
        #expect(try identity(decide(people, pinned: pin(Array(people.prefix(2)))).with) == .unexplained)
    }

    @Test func aSuccessionThatClaimsATimeToComeIsRed() throws {
        let started = PaperDirectory.now - 500
        let start = try account.start(started: started)
        let asked = try AccountState(
            starting: start, superseding: nil, after: account.committed, with: account.newIdentity.raw)
        let early = try RecoverableAccount.recovered(
            after: asked, start, account.newIdentity, account.recoveryKey, at: start.notBefore)
        let people = [account.first, account.committed, asked, early].map { person($0) }
        #expect(try identity(decide(people, pinned: pin(Array(people.prefix(2)))).with) == .unexplained)
    }

    @Test func aStepThatTheDirectoryDoesNotShowIsRed() throws {
        let pinned = try pin(Array(steps.prefix(2)))
        #expect(try identity(decide(steps, pinned: pinned, hiding: 3).with) == .unexplained)
        // What lies before the pinned state does not matter.
        #expect(
            try identity(decide(steps, pinned: pinned, hiding: 1).with) == .recovered(at: RecoverableAccount.ended))
    }

    @Test func aStepLoggedAsAResetIsRed() throws {
        let people = Array(steps.prefix(3)) + [person(account.recovered, kind: .reset)]
        #expect(try identity(decide(people, pinned: pin(Array(people.prefix(2)))).with) == .unexplained)
    }

    @Test func aStateThatWasPinnedAndIsNotInTheHistoryIsRed() throws {
        let pinned = try pin(Array(steps.prefix(2)))
        let elsewhere = PinnedPeer(
            uncheckedHandle: pinned.handle, identityKey: P256.Signing.PrivateKey().publicBytes, version: 2,
            stateHash: [UInt8](repeating: 7, count: 32), devices: pinned.devices, history: pinned.history, pinnedAt: 0)
        #expect(try identity(decide(steps, pinned: elsewhere).with) == .unexplained)
    }
}
