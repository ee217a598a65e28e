// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
package import SignetClient
import TransparencyLog

/// The rules that every `ClientStore` keeps, as one conformance suite for all stores.
///
/// A test target runs ``check(_:)`` of every case on every kind of store, each time on an empty store.
package enum StoreRule: String, CaseIterable, Sendable {
    case emptyStoreKnowsNothing
    case firstPinNeedsAnEmptyPlace
    case pinReplacesOnlyWhatWasExpected
    case historyAloneIsAChange
    case pinsOfPeopleAreIndependent
    case pinsAreListedInOrderOfHandle
    case extremeNumbersSurvive
    case viewMovesOnlyFromWhatWasExpected
    case epochAloneIsAChangeOfView
    case viewsOfLogsAreIndependent
    case evidenceOfEveryKindSurvivesInOrder
    case evidenceIsKeptOnce
    case peopleAreListedInOrderAndOnce
    case ownRecordMovesOnlyFromWhatWasExpected
    case submissionsAreKeptWithTheRecordAndTheNewestStay
    case comparisonsAreListedInOrderAndTheLastCounts
    case aMeetingIsKeptWhole
    case metForksAreKeptOnceInOrder
    case metFriendsAreKept
    case aPendingLinkIsReplacedAndForgotten
    case theLastCheckCounts
    case shownKeysAreKeptOncePerDayUntilSettled
    case theLastLookAtEachPersonCounts
    case deviceKeysOfEachPersonAreReplaced
    case oneOfManyConcurrentPinsWins
    case oneOfManyConcurrentAdvancesWins

    /// A rule that a store breaks.
    package struct Broken: Error, CustomStringConvertible {
        let rule: StoreRule
        let line: Int
        package var description: String { "\(rule.rawValue), line \(line) of the suite" }
    }

    /// Tries the rule on an empty store.
    ///
    /// - Throws: ``Broken``, or any error of the store.
    package func check(_ store: some ClientStore) async throws {
        let (alice, bob) = (
            try StoreSample.peer("alice@example.org"), try StoreSample.peer("bob@example.org")
        )
        switch self {
        case .emptyStoreKnowsNothing:
            try expect(await store.pinnedPeer(alice.handle) == nil)
            try expect(await store.pinnedPeers().isEmpty)
            try expect(await store.logView(origin: Array("example.org/log".utf8)) == nil)
            try expect(await store.evidence().isEmpty)
            try expect(await store.people().isEmpty)
            try expect(await store.ownRecord() == .initial)
        case .firstPinNeedsAnEmptyPlace:
            try expect(await store.pin(alice, replacing: nil))
            try expect(await store.pinnedPeer(alice.handle) == alice)
            try expect(await !store.pin(StoreSample.peer("alice@example.org", version: 2), replacing: nil))
            try expect(await store.pinnedPeer(alice.handle) == alice)
        case .pinReplacesOnlyWhatWasExpected:
            let (second, third) = (
                try StoreSample.peer("alice@example.org", version: 2),
                try StoreSample.peer("alice@example.org", version: 3)
            )
            try expect(await !store.pin(second, replacing: alice))
            try expect(await store.pin(alice, replacing: nil))
            try expect(await store.pin(second, replacing: alice))
            try expect(await !store.pin(third, replacing: alice))
            try expect(await store.pinnedPeer(alice.handle) == second)
        case .historyAloneIsAChange:
            let grown = alice.extended(to: StoreSample.history(count: 9))
            try expect(await store.pin(alice, replacing: nil))
            try expect(await store.pin(grown, replacing: alice))
            try expect(await !store.pin(alice, replacing: alice))
            try expect(await store.pinnedPeer(alice.handle) == grown)
        case .pinsOfPeopleAreIndependent:
            try expect(await store.pin(alice, replacing: nil))
            try expect(await !store.pin(bob, replacing: alice))
            try expect(await store.pin(bob, replacing: nil))
            try expect(await store.pinnedPeer(alice.handle) == alice)
        case .pinsAreListedInOrderOfHandle:
            for peer in [bob, alice] { try expect(await store.pin(peer, replacing: nil)) }
            try expect(await store.pinnedPeers() == [alice, bob])
        case .extremeNumbersSurvive:
            let extreme = try StoreSample.peer(
                "alice@example.org", version: .max, deviceCount: 24, pinnedAt: .max)
            try expect(await store.pin(extreme, replacing: nil))
            try expect(await store.pinnedPeer(alice.handle) == extreme)
            let view = try StoreSample.view(size: .max, epoch: EpochMark(number: .max, time: .max))
            try expect(await store.advance(to: view, from: nil))
            try expect(await store.logView(origin: view.origin.bytes) == view)
        default: try await checkLogs(store)
        }
    }

    private func checkLogs(_ store: some ClientStore) async throws {
        let (first, second) = (try StoreSample.view(size: 1), try StoreSample.view(size: 2))
        switch self {
        case .viewMovesOnlyFromWhatWasExpected:
            try expect(await !store.advance(to: second, from: first))
            try expect(await store.advance(to: first, from: nil))
            try expect(await !store.advance(to: second, from: nil))
            try expect(await store.advance(to: second, from: first))
            try expect(await store.logView(origin: first.origin.bytes) == second)
        case .epochAloneIsAChangeOfView:
            let marked = try StoreSample.view(size: 1, epoch: EpochMark(number: 1, time: 2))
            try expect(await store.advance(to: first, from: nil))
            try expect(await store.advance(to: marked, from: first))
            try expect(await !store.advance(to: second, from: first))
            try expect(await store.logView(origin: first.origin.bytes) == marked)
        case .viewsOfLogsAreIndependent:
            let other = try StoreSample.view(size: 9, origin: "example.net/log")
            try expect(await store.advance(to: first, from: nil))
            try expect(await store.advance(to: other, from: nil))
            try expect(await store.logView(origin: first.origin.bytes) == first)
        case .evidenceOfEveryKindSurvivesInOrder:
            let all = try StoreSample.faults.map { fault in
                LogContradiction(
                    uncheckedFault: fault, known: second, received: try StoreSample.view(size: 7))
            }
            for evidence in all { try await store.keep(evidence, at: 5) }
            try expect(await store.evidence() == all)
        case .evidenceIsKeptOnce:
            let evidence = LogContradiction(uncheckedFault: .fork, known: first, received: second)
            for time in [1, 2] as [UInt64] { try await store.keep(evidence, at: time) }
            try expect(await store.evidence() == [evidence])
        default: try await checkOwn(store)
        }
    }

    private func checkOwn(_ store: some ClientStore) async throws {
        switch self {
        case .peopleAreListedInOrderAndOnce:
            let (alice, bob) = (
                try StoreSample.handle("alice@example.org"), try StoreSample.handle("bob@example.org")
            )
            for (handle, since) in [(bob, 1), (alice, 2), (bob, 3)] as [(Handle, UInt64)] {
                try await store.remember(Person(handle: handle, since: since))
            }
            try expect(
                await store.people() == [Person(handle: alice, since: 2), Person(handle: bob, since: 3)])
        case .ownRecordMovesOnlyFromWhatWasExpected:
            let acts = [StoreSample.act(1), StoreSample.act(.max)]
            let sent = OwnRecord(
                pending: [1, 2, 3], highestDeviceNumber: .max, acts: acts, watch: StoreSample.watch(entries: 7),
                pendingSignature: [4, 5])
            let unseen = OwnRecord(
                pending: [1, 2, 3], highestDeviceNumber: .max, acts: acts, watch: StoreSample.watch(entries: 8))
            let done = OwnRecord(pending: nil, highestDeviceNumber: .max)
            try expect(await !store.setOwnRecord(done, replacing: sent))
            try expect(await store.setOwnRecord(sent, replacing: .initial))
            try expect(await !store.setOwnRecord(done, replacing: .initial))
            try expect(await store.ownRecord() == sent)
            try expect(await !store.setOwnRecord(done, replacing: unseen))
            try expect(await store.setOwnRecord(done, replacing: sent))
            try expect(await store.ownRecord() == done)
        case .submissionsAreKeptWithTheRecordAndTheNewestStay: try await checkKept(store)
        case .oneOfManyConcurrentPinsWins:
            let peers = try (1...8).map { try StoreSample.peer("alice@example.org", version: $0) }
            try expect(await Self.count(peers) { try await store.pin($0, replacing: nil) } == 1)
        case .oneOfManyConcurrentAdvancesWins:
            let views = try (1...8).map { try StoreSample.view(size: $0) }
            try expect(await Self.count(views) { try await store.advance(to: $0, from: nil) } == 1)
        default: try await checkContacts(store)
        }
    }

    private func checkKept(_ store: some ClientStore) async throws {
        let (origin, other) = (try KeyName("example.org/log".utf8), try KeyName("example.net/log".utf8))
        func kept(_ version: UInt64, _ byte: UInt8 = 1) -> KeptSubmission {
            KeptSubmission(version: version, index: .max - version, submission: [byte, 2], signature: [3])
        }
        try expect(await store.keptSubmissions(of: origin).isEmpty)
        let (sent, done) = (
            OwnRecord(pending: [1], highestDeviceNumber: 1, pendingSignature: [2]),
            OwnRecord(pending: nil, highestDeviceNumber: 1)
        )
        try expect(await store.setOwnRecord(sent, replacing: .initial))
        try expect(await !store.setOwnRecord(done, keeping: kept(1), of: origin, replacing: .initial))
        try expect(await store.keptSubmissions(of: origin).isEmpty)
        try expect(await store.ownRecord() == sent)
        try expect(await store.setOwnRecord(done, keeping: kept(1), of: origin, replacing: sent))
        try expect(await store.ownRecord() == done)
        let last = UInt64(KeptSubmission.maximumCount) + 1
        for version in (2...last).reversed() {
            try expect(await store.setOwnRecord(done, keeping: kept(version), of: origin, replacing: done))
        }
        try expect(await store.keptSubmissions(of: origin) == (2...last).map { kept($0) })
        try expect(await store.setOwnRecord(done, keeping: kept(last, 9), of: origin, replacing: done))
        try expect(await store.keptSubmissions(of: origin) == (2..<last).map { kept($0) } + [kept(last, 9)])
        try expect(await store.setOwnRecord(done, keeping: kept(last + 1), of: other, replacing: done))
        try expect(await store.keptSubmissions(of: other) == [kept(last + 1)])
        try expect(await store.keptSubmissions(of: origin) == (3..<last).map { kept($0) } + [kept(last, 9)])
    }

    private func checkContacts(_ store: some ClientStore) async throws {
        switch self {
        case .comparisonsAreListedInOrderAndTheLastCounts:
            let (alice, bob) = (
                try StoreSample.handle("alice@example.org"), try StoreSample.handle("bob@example.org")
            )
            let kept = Comparison.Kind.allCases.map { kind in
                Comparison(
                    handle: alice, identityKey: [UInt8](repeating: kind.rawValue, count: 33), kind: kind, time: .max,
                    metOn: kind == .code ? .max : nil)
            }
            let other = Comparison(
                handle: bob, identityKey: [UInt8](repeating: 9, count: 33), kind: .code, time: 1, metOn: 0)
            try await store.keep(other)
            for comparison in kept {
                try await store.keep(comparison)
                try expect(await store.comparison(with: alice) == comparison)
            }
            try expect(await store.comparisons() == [kept[3], other])
        case .aMeetingIsKeptWhole:
            let alice = try StoreSample.handle("alice@example.org")
            try expect(await store.meetingRecord(of: alice) == nil)
            for (time, record) in [(7, [1, 2]), (9, [3])] as [(UInt64, [UInt8])] {
                let comparison = Comparison(
                    handle: alice, identityKey: [UInt8](repeating: UInt8(time), count: 33), kind: .meeting, time: time,
                    metOn: time)
                try await store.keep(KeptMeeting(comparison: comparison, record: record))
                try expect(await store.comparisons() == [comparison])
                try expect(await store.meetingRecord(of: alice) == record)
                try expect(await store.people() == [Person(handle: alice, since: 7)])
            }
        case .metForksAreKeptOnceInOrder:
            let forks = try [UInt8(2), 1].map { try StoreSample.fork($0) }
            for fork in forks + forks { try await store.keep(fork, at: 1) }
            try expect(await store.metForks() == forks)
        case .aPendingLinkIsReplacedAndForgotten:
            try expect(await store.pendingLink() == nil)
            for card in [[1], [2, 3], nil] as [[UInt8]?] {
                try await store.setPendingLink(card)
                try expect(await store.pendingLink() == card)
            }
        case .metFriendsAreKept:
            try expect(await store.metFriends().isEmpty)
            let people = try ["alice@example.org", "bob@example.org"].map(StoreSample.handle)
            for handle in people + people { try await store.rememberMet(handle) }
            try expect(await store.metFriends() == Set(people))
        default: try await checkWatching(store)
        }
    }

    private func checkWatching(_ store: some ClientStore) async throws {
        let (alice, bob) = (try StoreSample.handle("alice@example.org"), try StoreSample.handle("bob@example.org"))
        switch self {
        case .theLastCheckCounts:
            try expect(await store.lastCheck() == nil)
            for time in [2, .max, 1] as [UInt64] {
                try await store.setLastCheck(time)
                try expect(await store.lastCheck() == time)
            }
        case .shownKeysAreKeptOncePerDayUntilSettled:
            let (origin, other) = (try KeyName("example.org/log".utf8), try KeyName("example.net/log".utf8))
            func shown(_ handle: Handle, _ count: UInt64, _ index: UInt64, day: UInt64) -> ShownKeys {
                ShownKeys(
                    handle: handle, history: StoreSample.history(count: count),
                    epoch: MilestoneMark(index: index, day: day), shownAt: .max, response: [UInt8(index)])
            }
            let all = [
                shown(bob, 2, 3, day: 1), shown(alice, 2, 4, day: 1), shown(bob, 2, 4, day: 2),
                shown(bob, 4, 5, day: 2),
            ]
            for keys in all.reversed() { try await store.keep(keys, in: origin) }
            try await store.keep(shown(bob, 4, 6, day: 2), in: origin)
            try expect(await store.shownKeys(in: origin) == all)
            try expect(await store.shownKeys(in: other).isEmpty)
            try await store.settle(all[2], in: other)
            try await store.settle(all[2], in: origin)
            try expect(await store.shownKeys(in: origin) == [all[0], all[1], all[3]])
        case .theLastLookAtEachPersonCounts:
            try expect(await store.lastLook(at: alice) == nil)
            for (time, seen) in [(5, 7), (.max, nil), (3, .max)] as [(UInt64, UInt64?)] {
                let look = PeerLook(handle: alice, epochTime: time, seenAt: seen)
                try await store.keep(look)
                try expect(await store.lastLook(at: alice) == look)
                try expect(await store.lastLook(at: bob) == nil)
            }
        case .deviceKeysOfEachPersonAreReplaced:
            try expect(await store.deviceKeys(of: alice).isEmpty)
            for keys in [[[1]: [2], [3]: [4]], [[3]: [5]], [:]] as [[[UInt8]: [UInt8]]] {
                try await store.keep(deviceKeys: keys, of: alice)
                try expect(await store.deviceKeys(of: alice) == keys)
                try expect(await store.deviceKeys(of: bob).isEmpty)
            }
        default: throw Broken(rule: self, line: #line)
        }
    }

    /// How many of the changes, all attempted concurrently, report that they took effect.
    private static func count<Value: Sendable>(
        _ values: [Value], _ change: @escaping @Sendable (Value) async throws -> Bool
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for value in values { group.addTask { try await change(value) } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }

    private func expect(_ holds: Bool, line: Int = #line) throws {
        guard holds else { throw Broken(rule: self, line: line) }
    }
}

/// Values to put into stores. Nothing in them is or has to be verified.
package enum StoreSample {
    static let faults: [LogContradiction.Fault] = [
        .rollback, .fork, .inconsistent(.shrunk(from: .max, to: 1)), .inconsistent(.fromEmptyTree),
        .inconsistent(.wrongHashCount(expected: 3, actual: 0)), .inconsistent(.oldRootMismatch),
        .inconsistent(.newRootMismatch),
    ]

    package static func handle(_ text: String) throws -> Handle { try Handle(typed: Array(text.utf8)) }

    package static func peer(
        _ name: String, version: UInt64 = 1, deviceCount: UInt16 = 2, pinnedAt: UInt64 = 1_800_000_000
    ) throws -> PinnedPeer {
        let devices = (1...deviceCount).map {
            PinnedDevice(
                number: $0, signingKey: Array(repeating: UInt8(truncatingIfNeeded: $0), count: 32),
                keysHash: Array(repeating: UInt8(truncatingIfNeeded: $0 + 100), count: 32))
        }
        return PinnedPeer(
            uncheckedHandle: try handle(name), identityKey: Array(repeating: 2, count: 33), version: version,
            stateHash: Array(repeating: UInt8(truncatingIfNeeded: version), count: 32), devices: devices,
            history: history(count: 2 &* version), pinnedAt: pinnedAt)
    }

    static func act(_ version: UInt64) -> OwnAct {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: 32)
        return OwnAct(
            version: version, stateHash: bytes, commitment: .toNothing, devices: version == 1 ? [] : [bytes, bytes])
    }

    static func watch(entries: UInt8) -> OwnWatch {
        var history = MerkleFrontier()
        for entry in 0..<entries { history.append(.leaf([entry])) }
        return OwnWatch(
            history: history, version: .max, stateHash: [UInt8](repeating: entries, count: 32),
            devices: [[UInt8](repeating: 1, count: 32)], milestone: MilestoneMark(index: .max, day: 1))
    }

    /// Two notes that have not been checked.
    static func fork(_ number: UInt8) throws -> ForkEvidence {
        let notes = try ["1", "2"].map { size in
            let line = NoteSignature(
                name: try KeyName("example.org/log".utf8), keyID: KeyID(rawValue: 0), blob: [number])
            return try SignedNote(text: Array("example.org/log\n\(size)\n".utf8), signatures: [line])
        }
        return ForkEvidence(first: notes[0], second: notes[1])
    }

    package static func history(count: UInt64) -> LabelHead {
        LabelHead(TreeHead(size: count, root: .leaf(Array("\(count)".utf8))))
    }

    package static func view(
        size: UInt64, origin: String = "example.org/log", epoch: EpochMark? = nil
    ) throws -> LogView {
        let root = TreeHash.leaf(Array("\(size)".utf8))
        return LogView(
            uncheckedOrigin: try KeyName(origin.utf8), head: TreeHead(size: size, root: root),
            note: Array("\(origin)\n\(size)\n".utf8), epoch: epoch)
    }
}
