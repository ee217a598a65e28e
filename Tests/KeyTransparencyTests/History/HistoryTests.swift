// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

/// Everything that the log holds under a name: complete, in order, and of that name.
@Suite struct HistoryTests {
    let scene: WatchScene

    init() throws { scene = try WatchScene() }

    private static func kinds(_ history: VerifiedHistory) -> [String] {
        history.entries.map { entry in
            switch entry {
            case .device: "device"
            case .state(let record, _): "version \(record.version)"
            case .withheld(let record): "withheld \(record.version)"
            case .closed(let record): "closed \(record.version)"
            }
        }
    }

    @Test func theWholeHistoryHasEveryEntryInOrder() throws {
        let history = try scene.verify(scene.answer())
        #expect(Self.kinds(history) == ["device", "device", "version 1", "device", "version 2"])
        #expect(try history.frontier == scene.frontier(5))
    }

    @Test(arguments: 0...5) func aClientWithAPrefixIsShownTheRest(_ known: Int) throws {
        let history = try scene.verify(scene.answer(since: known), since: known)
        #expect(history.entries.count == 5 - known)
        #expect(try history.frontier == scene.frontier(5))
        for count in known...5 {
            #expect(try history.head(count: UInt64(count)) == LabelHead(scene.frontier(count).head))
        }
        #expect(history.head(count: 6) == nil)
        if known > 0 { #expect(history.head(count: UInt64(known - 1)) == nil) }
    }

    @Test func anAbsentHandleHasNoHistory() throws {
        let nobody = try Handle(typed: Array("nobody@example.org".utf8))
        var lookup = try scene.directory.answer(aboutAbsent: nobody)
        lookup.note = try scene.directory.note(at: WatchScene.now).encoded
        let history = try HistoryVerifier(trust: scene.directory.trust()).verify(
            HistoryResponse(lookup: lookup.response.encoded, entries: []).encoded, for: nobody, knowing: nil,
            since: MerkleFrontier(), at: WatchScene.now)
        #expect(history.entries.isEmpty && history.frontier.size == 0)
    }

    @Test func theEndOfAnAccountEndsItsHistory() throws {
        var scene = scene
        try scene.publish(scene.alice.closed(), onDay: 3)
        let history = try scene.verify(scene.answer(last: scene.alice.closed()))
        #expect(Self.kinds(history).last == "closed 3")
    }

    @Test func aWithheldStateStillHasItsPlace() throws {
        let history = try scene.verify(scene.answer(showing: []))
        #expect(Self.kinds(history) == ["device", "device", "withheld 1", "device", "version 2"])
    }

    // MARK: Refusals

    @Test func anEntryLeftOutIsRefused() throws {
        for place in 0..<4 {
            #expect(throws: HistoryRefusal.otherHistory(entries: 4, expected: 5)) {
                try scene.verify(scene.answer { $0.remove(at: place) })
            }
        }
    }

    @Test func anEntryTooManyIsRefused() throws {
        #expect(throws: HistoryRefusal.otherHistory(entries: 6, expected: 5)) {
            try scene.verify(scene.answer { $0.append(.closed(version: 9)) })
        }
        #expect(throws: HistoryRefusal.otherHistory(entries: 6, expected: 5)) {
            try scene.verify(scene.answer(since: 5) { $0.append(.closed(version: 9)) }, since: 5)
        }
    }

    @Test func entriesInAnotherOrderAreRefused() throws {
        #expect(throws: HistoryRefusal.otherHistory(entries: 5, expected: 5)) {
            try scene.verify(scene.answer { $0.swapAt(0, 1) })
        }
    }

    @Test func anotherDeviceKeyIsRefused() throws {
        #expect(throws: HistoryRefusal.otherHistory(entries: 5, expected: 5)) {
            try scene.verify(scene.answer { $0[3] = .device(Array(repeating: 9, count: 32)) })
        }
    }

    @Test func anotherCommitmentIsRefused() throws {
        let other = try #require(StateCommitment(Array(repeating: 9, count: 32)))
        #expect(throws: HistoryRefusal.otherHistory(entries: 5, expected: 5)) {
            try scene.verify(scene.answer { $0[2] = .withheld(.set, version: 1, other) })
        }
    }

    @Test func aStateUnderAnotherOpeningOrKindIsRefused() throws {
        let before = scene.aliceBefore
        for (kind, opening) in [(StateKind.set, Array(repeating: 1, count: 32)), (.reset, before.opening)] {
            #expect(throws: HistoryRefusal.otherHistory(entries: 5, expected: 5)) {
                try scene.verify(
                    scene.answer { $0[2] = .state(kind, opening: opening, encoded: before.encodedState) })
            }
        }
    }

    @Test func history_refusesAnotherAccountsState() throws {
        let bob = try PaperPerson("bob@example.org", seed: 20)
        #expect(throws: HistoryRefusal.anotherAccount(bob.handle)) {
            try scene.verify(
                scene.answer { $0[2] = .state(.set, opening: bob.opening, encoded: bob.encodedState) })
        }
    }

    /// What an app may write into its log: the check and quantities, but no person and nothing that the server sent.
    @Test func aRefusalNamesItsCheckAndNoPerson() throws {
        let refusals: [(HistoryRefusal, String)] = [
            (
                .anotherAccount(try PaperPerson("bob@example.org", seed: 20).handle),
                "the check 'accountState' refused a history"
            ),
            (.accountState(.invalidSignature), "the check 'accountState' refused a history"),
            (.lookup(.history(.empty)), "the check 'history' refused the lookup of a history"),
            (
                .otherHistory(entries: 4, expected: 5),
                "the check 'root' refused a history of 4 entries, where the index holds 5"
            ),
            (.step(.noSuchEntry), "the check 'steps' refused a history"),
        ]
        for (refusal, text) in refusals { #expect("\(refusal)" == text) }
    }

    @Test func history_refusesAnUnsignedState() throws {
        var encoded = scene.aliceBefore.encodedState
        encoded[encoded.count - 1] ^= 1
        #expect(throws: HistoryRefusal.accountState(.invalidSignature)) {
            try scene.verify(
                scene.answer { $0[2] = .state(.set, opening: scene.aliceBefore.opening, encoded: encoded) })
        }
    }

    @Test func aShorterHistoryThanWasKnownIsRefused() throws {
        var known = try scene.frontier(5)
        known.append(.leaf([1]))
        #expect(throws: HistoryRefusal.lookup(.history(.shrunk(known: 6, received: 5)))) {
            try HistoryVerifier(trust: scene.directory.trust()).verify(
                scene.answer(since: 5), for: scene.alice.handle, knowing: nil, since: known, at: WatchScene.now)
        }
    }

    @Test func everyFlippedBitIsRefused() throws {
        let honest = try scene.answer(showing: [])
        for place in stride(from: 0, to: honest.count, by: 11) {
            var bytes = honest
            bytes[place] ^= 1 << UInt8(place % 8)
            #expect(throws: HistoryRefusal.self, "byte \(place)") { try scene.verify(bytes) }
        }
    }

    // MARK: The form

    @Test func messagesAreWrittenAsTheyAreRead() throws {
        let answer = try scene.answer()
        #expect(try HistoryResponse(decoding: answer).encoded == answer)
        let request = HistoryRequest(LookupRequest(handle: scene.alice.handle, knownSize: 7, knownCount: 3))
        #expect(try HistoryRequest(decoding: request.encoded) == request)
        for bytes in [answer, request.encoded] {
            #expect(throws: LookupMessageError.self) { try HistoryResponse(decoding: bytes + [0]) }
        }
        for count in [0, 5, 17, 18, 30, answer.count - 1] {
            #expect(throws: LookupMessageError.self) { try HistoryResponse(decoding: Array(answer.prefix(count))) }
        }
    }

    @Test func formsAndKindsWithoutMeaningAreRefused() throws {
        let start = HistoryResponse(lookup: [], entries: []).encoded.dropLast(4) + [0, 0, 0, 1]
        let rest = [UInt8](repeating: 0, count: 40)
        #expect(throws: LookupMessageError.unknownAnswer(4)) { try HistoryResponse(decoding: start + [4] + rest) }
        for kind in [0, 3, 9] as [UInt8] {
            #expect(throws: LookupMessageError.unknownAnswer(kind)) {
                try HistoryResponse(decoding: start + [2, kind] + rest)
            }
        }
        let many = HistoryResponse(lookup: [], entries: []).encoded.dropLast(4) + [0, 1, 0, 0]
        #expect(throws: LookupMessageError.tooManyEntries(65_536)) { try HistoryResponse(decoding: Array(many)) }
    }
}
