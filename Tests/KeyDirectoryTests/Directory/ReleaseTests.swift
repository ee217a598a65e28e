// SPDX-License-Identifier: Apache-2.0

import Crypto
import DurableStorage
import EngineLab
import KeyTransparency
import LogEngine
import SignetAPI
import Testing
import TransparencyLog
import VRF

@testable import KeyDirectory

/// A handle that the wrong person registered goes to another one, and this cannot be hidden.
@Suite(.everyEngine) struct ReleaseTests {
    let place: Place
    let directory: Directory
    var squatter: Person
    let owner: Person
    let invitation: Invitation

    init() async throws {
        place = try Place()
        directory = try await place.create()
        squatter = try Person("ceo@example.org")
        try await squatter.register(at: directory)
        try await squatter.change(to: squatter.devices + [squatter.newDevice()], at: directory)
        owner = try Person("ceo@example.org")
        invitation = try #require(Invitation(code: [UInt8](repeating: 7, count: 16)))
    }

    /// The owner's first state, as an honest client makes it, after a change of a test's.
    private func beginning(
        of person: Person, after former: AccountState? = nil,
        changing change: (AccountStateBody) -> AccountStateBody = { $0 }
    ) throws -> AccountState {
        let former = try former ?? #require(squatter.state)
        let body = try AccountStateBody(
            takingOver: former, identityKey: Array(person.identity.publicKey.compressedRepresentation),
            devices: person.devices.map(\.record))
        return try AccountState(signing: change(body)) {
            Array(try person.identity.signature(for: $0).rawRepresentation)
        }
    }

    private func submission(
        _ state: AccountState, of person: Person, at directory: Directory? = nil
    ) async throws -> StateSubmission {
        var cards: [DeviceCard] = []
        for device in person.devices {
            cards.append(try await device.card(for: person.handle, at: directory ?? self.directory))
        }
        return try StateSubmission(state: state, opening: Person.opening(), cards: cards)
    }

    private func bring(
        _ submission: StateSubmission, by person: Person, admitting right: RegistrationRight,
        to other: Directory? = nil, onNewHolder: @escaping @Sendable () async -> Void = {}
    ) async throws -> StateReceipt {
        let directory = other ?? directory
        let (signature, content) = try person.devices[0].sign(
            .register, submission.encoded, at: directory, time: place.clock.now)
        return try await directory.register(
            submission, signature, content, admitting: right, onNewHolder: onNewHolder)
    }

    /// Why the owner does not get the handle; nil if they do.
    private func takeOver(
        with invitation: Invitation?, _ state: AccountState? = nil, by person: Person? = nil
    ) async throws -> ErrorCode? {
        let person = person ?? owner
        let submission = try await submission(state ?? beginning(of: person), of: person)
        return try await refusal { try await bring(submission, by: person, admitting: .anyone(holding: invitation)) }
    }

    /// Everything that the log holds of the handle since what was known of it.
    private func history(since known: MerkleFrontier = MerkleFrontier()) async throws -> VerifiedHistory {
        let request = HistoryRequest(LookupRequest(handle: owner.handle, knownSize: 0, knownCount: known.size))
        let bytes = try await directory.history(request).encoded
        return try HistoryVerifier(trust: place.verifier().trust).verify(
            bytes, for: owner.handle, knowing: nil, since: known, at: place.clock.now)
    }

    // MARK: What the log shows

    @Test func whoKnewNobodyVerifiesTheNewHolder_andTheLogCallsItAReset() async throws {
        _ = try await directory.release(owner.handle, to: invitation)
        #expect(try await place.verifiedLookup(owner.handle, at: directory).state == squatter.state, "until then")
        #expect(try await takeOver(with: invitation) == nil)
        let lookup = try await place.verifiedLookup(owner.handle, at: directory)
        #expect(lookup.state.identityKey == Array(owner.identity.publicKey.compressedRepresentation))
        #expect(lookup.state.version == 3)
        #expect(lookup.state.previous == squatter.state?.hash)
        #expect(lookup.kind == .reset)
        let records = try await history().entries.compactMap { entry -> String? in
            switch entry {
            case .device: nil
            case .state(let record, _): "\(record.kind) \(record.version)"
            case .withheld(let record): "withheld \(record.kind) \(record.version)"
            case .closed: "closed"
            }
        }
        #expect(records == ["withheld set 1", "withheld set 2", "reset 3"], "nothing of the former holder is kept")
    }

    @Test func whoPinnedTheFormerHolderSeesAnotherIdentityThatNothingExplains() async throws {
        let pinned = PinnedPeer(try await place.verifiedLookup(owner.handle, at: directory), at: place.clock.now)
        _ = try await directory.release(owner.handle, to: invitation)
        #expect(try await takeOver(with: invitation) == nil)
        let answer = try await place.verifiedAnswer(about: owner.handle, at: directory, history: pinned.history)
        guard case .registered(let lookup) = answer else {
            Issue.record("not registered")
            return
        }
        for history in [nil, try await history()] {
            guard case .mismatch(let change) = PeerTrustDecision(lookup, comparedWith: pinned, by: history) else {
                Issue.record("not shown as a change")
                return
            }
            #expect(change.identity == .unexplained)
            #expect(change.removed.count == 2)
        }
    }

    @Test func theFormerHoldersMonitorSeesAResetThatTheyDidNotMake() async throws {
        let before = try await history()
        let acts = try [#require(squatter.state)].map {
            OwnAct(version: $0.version, stateHash: $0.hash, commitment: .toNothing, devices: [])
        }
        var watching = MonitorDecision(before, since: .beginning, acts: acts)
        watching.accept()
        _ = try await directory.release(owner.handle, to: invitation)
        #expect(try await takeOver(with: invitation) == nil)
        let after = MonitorDecision(try await history(since: before.frontier), since: watching.watch, acts: acts)
        #expect(after.alarms.contains(.reset(version: 3)), "\(after.alarms)")
    }

    @Test func theNewHoldersMonitorIsSilentAboutTheirOwnBeginning_andSeesWhatComesAfterIt() async throws {
        let before = try await history()
        _ = try await directory.release(owner.handle, to: invitation)
        let state = try beginning(of: owner)
        #expect(try await takeOver(with: invitation, state) == nil)
        let watch = OwnWatch(
            history: before.frontier, version: 2, stateHash: try #require(squatter.state).hash, devices: [],
            milestone: nil)
        let act = OwnAct(
            version: 3, stateHash: state.hash, commitment: .toNothing, devices: owner.devices.map(\.record.keys.signing)
        )
        let after = MonitorDecision(try await history(since: before.frontier), since: watch, acts: [act])
        #expect(after.alarms.isEmpty, "\(after.alarms)")
    }

    // MARK: Who gets it

    @Test func onlyTheHolderOfTheInvitationGetsTheHandle() async throws {
        #expect(try await takeOver(with: invitation) == .handleTaken, "it is not released")
        let end = try await directory.release(owner.handle, to: invitation)
        #expect(end == place.clock.now + 7 * 86_400)
        #expect(try await takeOver(with: nil) == .notInvited)
        #expect(try await takeOver(with: Invitation(code: [UInt8](repeating: 8, count: 16))) == .notInvited)
        let state = try beginning(of: owner)
        #expect(try await takeOver(with: invitation, state) == nil)
        let third = try Person("ceo@example.org")
        #expect(try await takeOver(with: invitation, by: third) == .versionConflict)
        #expect(try await takeOver(with: invitation, beginning(of: third, after: state), by: third) == .handleTaken)
    }

    /// An operator who repeats the command does not take the handle from the right person.
    @Test func aReleaseThatIsRepeatedAfterTheTakeoverDoesNothing() async throws {
        _ = try await directory.release(owner.handle, to: invitation)
        #expect(try await takeOver(with: invitation) == nil)
        #expect(try await refusal { try await directory.prepareRelease(of: owner.handle) } == .handleTaken)
        #expect(try await refusal { try await directory.release(owner.handle, to: invitation) } == .handleTaken)
        #expect(try await directory.account(owner.handle).releasedAt == nil)
        #expect(try await directory.account(owner.handle).suspendedAt == nil)
    }

    /// What is stored under the handle is erased once more meanwhile, and nothing of the next holder's may be there then.
    @Test func whileAReleaseIsRepeatedNobodyTakesTheHandle() async throws {
        _ = try await directory.release(owner.handle, to: invitation)
        try await directory.prepareRelease(of: owner.handle)
        #expect(try await takeOver(with: invitation) == .notInvited)
        let other = try #require(Invitation(code: [UInt8](repeating: 8, count: 16)))
        _ = try await directory.release(owner.handle, to: other)
        #expect(try await takeOver(with: other) == nil)
    }

    @Test func prepareRelease_suspendsTheHolder_andResumingTakesItBack() async throws {
        try await directory.prepareRelease(of: owner.handle)
        #expect(try await directory.account(owner.handle).suspendedAt == place.clock.now)
        #expect(try await directory.account(owner.handle).releasedAt == nil)
        #expect(try await refusal { try await squatter.caller(at: directory) } == .suspended)
        try await directory.resume(owner.handle)
        #expect(try await refusal { try await squatter.caller(at: directory) } == nil)
        #expect(
            try await directory.events(of: owner.handle).map(\.name).prefix(2) == ["resumed", "suspended"])
    }

    /// What the parts of the server refuse after an erasure, they take from a new holder. Whoever has the handle sends a state again, and is
    /// none.
    @Test func onlyTheTakeoverMakesANewHolder_andAStateThatIsSentAgainDoesNot() async throws {
        var holder = squatter
        let device = try holder.newDevice()
        let change = try await holder.submission(devices: holder.devices + [device], at: directory)
        _ = try await holder.send(change, to: directory)
        try await confirmation(expectedCount: 0) { [holder] confirm in
            _ = try await bring(change, by: holder, admitting: .anyone) { confirm() }
        }
        _ = try await directory.release(owner.handle, to: invitation)
        let first = try await submission(beginning(of: owner, after: change.state), of: owner)
        try await confirmation { confirm in
            for _ in 0..<2 {
                _ = try await bring(first, by: owner, admitting: .anyone(holding: invitation)) { confirm() }
            }
        }
    }

    @Test func nobodyIsAskedWhileTheHandleWaits() async throws {
        var friend = try Person("friend@example.org")
        try await friend.register(at: directory)
        _ = try await directory.release(owner.handle, to: invitation)
        let caller = try await friend.caller(at: directory)
        #expect(try await refusal { try await directory.addFriend(owner.handle, by: caller) } == .notFound)
    }

    @Test func anInvitationThatHasRunOutIsReplacedByAnotherRelease() async throws {
        _ = try await directory.release(owner.handle, to: invitation)
        place.clock.advance(7 * 86_400 + 1)
        #expect(try await takeOver(with: invitation) == .notInvited)
        let other = try #require(Invitation(code: [UInt8](repeating: 8, count: 16)))
        _ = try await directory.release(owner.handle, to: other)
        #expect(try await takeOver(with: other) == nil)
    }

    @Test func aHandleThatIsNotReleasedIsNotTakenOver_whateverTheInvitation() async throws {
        // The invitation was made for the handle when it was free.
        let alice = try Person("alice@example.org")
        _ = try await directory.invite(alice.handle, with: invitation)
        var first = alice
        try await first.register(at: directory)
        let thief = try Person("alice@example.org")
        let state = try beginning(of: thief, after: #require(first.state))
        let submission = try await submission(state, of: thief)
        let code = try await refusal { try await bring(submission, by: thief, admitting: .holder(of: invitation)) }
        #expect(code == .handleTaken)
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state == first.state)
    }

    @Test func aFirstStateStillDoesNotTakeAReleasedHandle() async throws {
        _ = try await directory.release(owner.handle, to: invitation)
        let state = try owner.nextState(devices: owner.devices)
        #expect(try await takeOver(with: invitation, state) == .handleTaken)
    }

    @Test func theBeginningFollowsTheFormerHoldersLastState_andHasNothingOfTheirs() async throws {
        _ = try await directory.release(owner.handle, to: invitation)
        let hash = [UInt8](repeating: 1, count: 32)
        func changed(
            version: UInt64? = nil, previous: [UInt8]? = nil, commitment: [UInt8]? = nil, pending: [UInt8]? = nil,
            head: [UInt8]? = nil, by person: Person? = nil
        ) async throws -> ErrorCode? {
            let person = person ?? owner
            let state = try beginning(of: person) { body in
                AccountStateBody(
                    handle: body.handle, version: version ?? body.version, previous: previous ?? body.previous,
                    identityKey: body.identityKey, recoveryCommitment: commitment, pendingRecovery: pending,
                    accountHead: head, devices: body.devices)
            }
            return try await takeOver(with: invitation, state, by: person)
        }
        #expect(try await changed(version: 4) == .versionConflict)
        #expect(try await changed(version: 2) == .versionConflict)
        #expect(try await changed(previous: hash) == .versionConflict)
        #expect(try await changed(commitment: hash) == .badRequest)
        #expect(try await changed(pending: hash) == .badRequest)
        #expect(try await changed(head: hash) == .badRequest)
        var same = owner
        same.identity = squatter.identity
        #expect(try await changed(by: same) == .keyInUse)
        same = owner
        same.devices = [squatter.devices[1]]
        #expect(try await changed(by: same) == .keyInUse)
        #expect(try await changed() == nil)
    }

    // MARK: The former holder

    @Test func nothingOfTheFormerHoldersIsTakenAnyMore() async throws {
        var squatter = squatter
        let friend = try Person("friend@example.org")
        var registered = friend
        try await registered.register(at: directory)
        _ = try await directory.addFriend(squatter.handle, by: registered.caller(at: directory))
        _ = try await directory.release(owner.handle, to: invitation)
        #expect(try await refusal { try await squatter.caller(at: directory) } == .notYourAccount)
        #expect(
            try await refusal { try await squatter.change(to: [squatter.devices[0]], at: directory) } == .notYourAccount
        )
        try await directory.resume(owner.handle)
        #expect(
            try await refusal { try await squatter.caller(at: directory) } == .notYourAccount, "not after that either")
        #expect(try await directory.account(owner.handle).contactCount == 0)
        #expect(try await directory.account(owner.handle).releasedAt == place.clock.now)
        #expect(try await directory.events(of: owner.handle).map(\.name).prefix(2) == ["resumed", "released"])
    }

    @Test func theFormerHoldersGuardiansDoNotGetItBack() async throws {
        let (recoveryKey, askKey) = (P256.Signing.PrivateKey(), Curve25519.Signing.PrivateKey())
        let commitment = try RecoveryCommitment(
            epoch: 1, delay: 1000, recoveryKey: Array(recoveryKey.publicKey.compressedRepresentation), bundle: [1],
            askKey: Array(askKey.publicKey.rawRepresentation))
        let identity = squatter.identity
        let committed = try AccountState(
            signing: try #require(squatter.state).next(committingTo: commitment.hash, leaving: nil)
        ) { Array(try identity.signature(for: $0).rawRepresentation) }
        let submission = try StateSubmission(state: committed, opening: Person.opening(), cards: [])
        _ = try await squatter.send(submission, to: directory)
        let (thief, now) = (P256.Signing.PrivateKey(), place.clock.now)
        let (request, key) = ([UInt8](repeating: 1, count: 32), Array(thief.publicKey.compressedRepresentation))
        let start = try RecoveryStart(
            request: request, identityKey: key, commitment: commitment, started: now, expires: now + 50_000,
            endorsement: RecoveryEndorsement(
                of: request, identityKey: key, commitment: commitment, expires: now + 50_000, at: now,
                signing: { Array(try askKey.signature(for: $0)) }))
        let asked = try AccountState(starting: start, superseding: nil, after: committed) {
            Array(try thief.signature(for: $0).rawRepresentation)
        }
        let request2 = try StateSubmission(state: asked, opening: Person.opening(), cards: [])
        _ = try await directory.release(owner.handle, to: invitation)
        let code = try await refusal { try await bring(request2, by: owner, admitting: .anyone) }
        #expect(code == .notFound)
        let state = try beginning(of: owner, after: committed)
        #expect(try await takeOver(with: invitation, state) == nil)
        #expect(try await refusal { try await bring(request2, by: owner, admitting: .anyone) } != nil)
    }

    @Test func anErasureAfterAReleaseClosesTheHandleForGood() async throws {
        _ = try await directory.release(owner.handle, to: invitation)
        try await directory.erase(owner.handle)
        #expect(try await takeOver(with: invitation) == .badRequest)
        #expect(try await refusal { try await directory.release(owner.handle, to: invitation) } == .notFound)
        guard case .closed = try await place.verifiedAnswer(about: owner.handle, at: directory) else {
            Issue.record("not closed")
            return
        }
    }

    // MARK: Starts in between

    @Test func aStartInBetweenForgetsNothing_andACheckFindsNoFault() async throws {
        _ = try await directory.release(owner.handle, to: invitation)
        await directory.close()
        var again = try await place.open()
        let submission = try await submission(beginning(of: owner), of: owner, at: again)
        let receipt = try await bring(submission, by: owner, admitting: .anyone(holding: invitation), to: again)
        let repeated = try await bring(submission, by: owner, admitting: .anyone, to: again)
        #expect(repeated.index == receipt.index, "the answer was lost")
        await again.close()
        if LabEngine.current == .sqlite {
            let inspection = DirectoryInspection(
                at: place.path, origin: place.keys.log.verifierKey.name, policy: try place.verifier().trust.policy,
                vrfKey: place.keys.vrf.publicKey.bytes)
            #expect(inspection.run().faults.isEmpty, "\(inspection.run().faults)")
        }
        again = try await place.open()
        #expect(try await place.verifiedLookup(owner.handle, at: again).kind == .reset)
        await again.close()
    }

    /// The process ended between the database and the log.
    @Test func aStartLogsATakeoverThatTheLogDoesNotHaveYet() async throws {
        _ = try await directory.release(owner.handle, to: invitation)
        let submission = try await submission(beginning(of: owner), of: owner)
        let (signature, _) = try owner.devices[0].sign(
            .register, submission.encoded, at: directory, time: place.clock.now)
        let statement = Statement(submission: submission, signature: signature, time: place.clock.now)
        let former = try #require(try await directory.database.read { try AccountRow.find(owner.handle, in: $0) })
        _ = try await directory.database.replaceAccount(
            former, with: statement, StateRow(statement, label: former.label, kind: .reset),
            admitting: .anyone(holding: invitation))
        await directory.close()
        let again = try await place.open()
        let lookup = try await place.verifiedLookup(owner.handle, at: again)
        #expect(lookup.kind == .reset)
        #expect(lookup.state == submission.state)
        await again.close()
    }
}
