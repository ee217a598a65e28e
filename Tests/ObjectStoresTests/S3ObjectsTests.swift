// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import ObjectTesting
import S3Requests
import S3Stores
import Testing

/// A gateway on paper, and the engine that asks it.
struct Lab {
    static let seconds: UInt64 = 1_800_000_000
    let gateway: PaperGateway
    let store: S3Objects

    static func credentials(secret: String = "a-secret-of-the-tests") throws -> S3Credentials {
        try #require(S3Credentials(accessKey: "KEY", secret: secret))
    }

    static func configuration(
        _ gateway: PaperGateway, prefix: String = "", secret: String = "a-secret-of-the-tests",
        at seconds: UInt64 = seconds
    ) throws -> S3Configuration {
        let endpoint = try S3Endpoint("http://127.0.0.1:\(gateway.port)")
        var configuration = try S3Configuration(
            endpoint: endpoint, bucket: "bucket", prefix: prefix, credentials: credentials(secret: secret))
        configuration.retry = ObjectRetry(attempts: 3) { _ in }
        configuration.maximumByteCount = 1 << 20
        configuration.now = { seconds }
        return configuration
    }

    /// Runs a test with a gateway, and closes both ends.
    static func run(
        _ habits: PaperGateway.Habits = PaperGateway.Habits(), prefix: String = "",
        secret: String = "a-secret-of-the-tests",
        at seconds: UInt64 = seconds, deadline: Duration = .seconds(60), tagForm: S3TagForm = .asGiven,
        _ body: (Lab) async throws -> Void
    ) async throws {
        let gateway = try await PaperGateway(credentials(), habits)
        var configuration = try configuration(gateway, prefix: prefix, secret: secret, at: seconds)
        configuration.deadline = deadline
        let store = try S3Objects(configuration, tagForm: tagForm)
        let result: Result<Void, any Error>
        do { result = .success(try await body(Lab(gateway: gateway, store: store))) } catch { result = .failure(error) }
        await store.close()
        await gateway.close()
        try result.get()
    }
}

/// The engine that speaks S3, over a gateway that fails.
struct S3ObjectsTests {
    private let retry = ObjectRetry(attempts: 3) { _ in }

    @Test(arguments: ObjectRule.allCases)
    func aGatewayKeepsTheRule(rule: ObjectRule) async throws {
        var habits = PaperGateway.Habits()
        habits.pageLength = 3
        try await Lab.run(habits, prefix: "signet/") { lab in try await rule.check(lab.store, at: "below") }
    }

    @Test func theBucketHasTheObjectBelowThePrefix() async throws {
        try await Lab.run(prefix: "a/b/") { lab in
            try await lab.store.putImmutable([1], at: "tile/000")
            #expect(lab.gateway.object("a/b/tile/000") == [1])
            let listed = try await lab.store.list("")
            #expect(listed == ["tile/000"])
        }
    }

    // MARK: F10

    /// The first attempt took effect, and its answer was lost: the second is told 412.
    @Test func anOwnEarlierAttemptIsNotAContradiction() async throws {
        for act in [
            PaperGateway.Act.doneAndCut, .doneAndAnswered(500, code: "InternalError"), .doneAndHalf, .doneWithoutTag,
        ] {
            try await Lab.run { lab in
                lab.gateway.next(act)
                let outcome = try await lab.store.putImmutable([1], at: "a", retry: retry)
                #expect(outcome == .same)
            }
        }
    }

    @Test func aSwapWhoseAnswerWasLostIsFoundAgain() async throws {
        try await Lab.run { lab in
            guard case .swapped(let tag) = try await lab.store.swap([1], at: "a", after: nil) else { throw Missing() }
            lab.gateway.next(.doneAndCut)
            guard case .swapped(let next) = try await lab.store.swap([2], at: "a", after: tag, retry: retry) else {
                throw Missing()
            }
            let there = try await lab.store.get("a")
            #expect(there == StoredObject(bytes: [2], tag: next))
        }
    }

    private struct Missing: Error {}

    @Test func otherBytesAreAContradiction() async throws {
        try await Lab.run { lab in
            try await lab.store.putImmutable([1], at: "a")
            await #expect(throws: ObjectFault.contradiction(path: "a")) {
                try await lab.store.putImmutable([2], at: "a", retry: retry)
            }
            #expect(lab.gateway.object("a") == [1])
        }
    }

    @Test func aConflictIsTriedAgain() async throws {
        try await Lab.run { lab in
            lab.gateway.next(.answer(409, code: "ConditionalRequestConflict"), .answer(409, code: "OperationAborted"))
            let outcome = try await lab.store.putImmutable([1], at: "a", retry: retry)
            #expect(outcome == .written)
        }
    }

    @Test func anotherConflictIsARefusal() async throws {
        try await Lab.run { lab in
            lab.gateway.next(.answer(409, code: "BucketNotEmpty"))
            await #expect(throws: ObjectFault.refused(.status(409, code: "BucketNotEmpty"))) {
                try await lab.store.putImmutable([1], at: "a", retry: retry)
            }
        }
    }

    /// A server error may come after the effect.
    @Test(arguments: [500, 502, 503, 504])
    func aWriteThatEndsInAServerErrorIsUnknown(status: Int) async throws {
        try await Lab.run { lab in
            lab.gateway.next(.answer(status, code: "SlowDown"))
            await #expect(throws: ObjectFault.outcomeUnknown(.status(status, code: "SlowDown"))) {
                try await lab.store.put([1], at: "a", .ifAbsent)
            }
        }
    }

    @Test func aWriteWhoseConnectionEndsIsUnknown() async throws {
        try await Lab.run { lab in
            for act in [PaperGateway.Act.doneAndCut, .doneAndHalf] {
                lab.gateway.next(act)
                await #expect(throws: ObjectFault.outcomeUnknown(.connection)) {
                    try await lab.store.put([1], at: "a", .ifAbsent)
                }
            }
            lab.gateway.next(.doneWithoutTag)
            await #expect(throws: ObjectFault.outcomeUnknown(.status(200, code: ""))) {
                try await lab.store.put([1], at: "b", .ifAbsent)
            }
        }
    }

    @Test func aWriteThatIsNeverSentIsNotUnknown() async throws {
        let gateway = try await PaperGateway(Lab.credentials())
        let configuration = try Lab.configuration(gateway)
        await gateway.close()
        let store = try S3Objects(configuration, tagForm: .asGiven)
        await #expect(throws: ObjectFault.unavailable(.connection)) { try await store.put([1], at: "a", .ifAbsent) }
        await #expect(throws: ObjectFault.unavailable(.connection)) { try await store.get("a") }
        await store.close()
    }

    @Test func aStallEndsAtTheDeadline() async throws {
        try await Lab.run(deadline: .milliseconds(300)) { lab in
            lab.gateway.next(.stall)
            await #expect(throws: ObjectFault.outcomeUnknown(.deadline)) {
                try await lab.store.put([1], at: "a", .ifAbsent)
            }
            lab.gateway.next(.stall, .stall, .stall)
            await #expect(throws: ObjectFault.unavailable(.deadline)) { try await lab.store.get("a") }
        }
    }

    @Test func aLateWriteDoesNotOverwriteANewerOne() async throws {
        try await Lab.run(deadline: .milliseconds(300)) { lab in
            guard case .written(let first) = try await lab.store.put([1], at: "a", .ifAbsent) else { throw Missing() }
            lab.gateway.next(.late)
            await #expect(throws: ObjectFault.outcomeUnknown(.deadline)) {
                try await lab.store.put([2], at: "a", .ifVersion(first))
            }
            guard case .swapped(let third) = try await lab.store.swap([3], at: "a", after: first) else {
                throw Missing()
            }
            lab.gateway.deliver()
            let there = try await lab.store.get("a")
            #expect(there == StoredObject(bytes: [3], tag: third))
        }
    }

    @Test func readsListsAndRemovalsAreTriedAgain() async throws {
        try await Lab.run { lab in
            try await lab.store.putImmutable([1], at: "a")
            lab.gateway.next(.answer(503, code: "SlowDown"), .doneAndCut)
            let there = try await lab.store.get("a")
            #expect(there?.bytes == [1])
            lab.gateway.next(.answer(500, code: ""), .answer(429, code: ""))
            let listed = try await lab.store.list("")
            #expect(listed == ["a"])
            lab.gateway.next(.doneAndAnswered(500, code: "InternalError"))
            try await lab.store.remove("a")
            #expect(lab.gateway.object("a") == nil)
            lab.gateway.next(.answer(503, code: ""), .answer(503, code: ""), .answer(503, code: ""))
            await #expect(throws: ObjectFault.unavailable(.status(503, code: ""))) { try await lab.store.get("a") }
        }
    }

    // MARK: Answers that are not believed

    @Test func halfAnObjectIsNoObject() async throws {
        try await Lab.run { lab in
            try await lab.store.putImmutable([1, 2, 3, 4], at: "a")
            for act in [PaperGateway.Act.doneAndHalf, .doneWithoutLength] {
                lab.gateway.next(act, act, act)
                await #expect(throws: ObjectFault.unavailable(.connection)) { try await lab.store.get("a") }
            }
        }
    }

    /// To follow would be to hand the signed request to whoever is named.
    @Test func redirectsAreRefused() async throws {
        let other = try await PaperGateway(Lab.credentials())
        try await Lab.run { lab in
            let place = "http://127.0.0.1:\(other.port)/bucket/a"
            lab.gateway.next(.redirect(place))
            await #expect(throws: ObjectFault.refused(.status(307, code: ""))) { try await lab.store.get("a") }
            lab.gateway.next(.redirect(place))
            await #expect(throws: ObjectFault.refused(.status(307, code: ""))) {
                try await lab.store.putImmutable([1], at: "a", retry: retry)
            }
        }
        #expect(other.seen.isEmpty)
        await other.close()
    }

    @Test func anAnswerThatIsTooLongIsNotRead() async throws {
        try await Lab.run { lab in
            lab.gateway.next(.long(1 << 20))
            let longest = try await lab.store.get("a")
            #expect(longest?.bytes.count == 1 << 20)
            lab.gateway.next(.long(1 << 20 + 1))
            await #expect(throws: ObjectFault.tooLarge(limit: 1 << 20)) { try await lab.store.get("a") }
            lab.gateway.next(.long(9 << 20))
            await #expect(throws: ObjectFault.self) { try await lab.store.list("") }
            await #expect(throws: ObjectFault.tooLarge(limit: 1 << 20)) {
                try await lab.store.put([UInt8](repeating: 0, count: 1 << 20 + 1), at: "a", .ifAbsent)
            }
        }
    }

    @Test(arguments: [
        "", "words", "<html></html>",
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken></ListBucketResult>",
    ])
    func aListThatIsNoneIsRefused(text: String) async throws {
        try await Lab.run { lab in
            lab.gateway.next(.body(text), .body(text))
            await #expect(throws: ObjectFault.malformedAnswer) { try await lab.store.list("") }
        }
    }

    /// A store that always names the same next page would keep the server busy without end.
    @Test func aListThatGoesRoundIsRefused() async throws {
        let text = """
            <ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>\
            <Contents><Key>a</Key></Contents></ListBucketResult>
            """
        try await Lab.run { lab in
            lab.gateway.next(.body(text), .body(text), .body(text))
            await #expect(throws: ObjectFault.malformedAnswer) { try await lab.store.list("") }
        }
    }

    @Test func namesThatAreNotAskedForAreNotListed() async throws {
        let text = """
            <ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>p/a/../b</Key></Contents>\
            <Contents><Key>p/a/c</Key></Contents><Contents><Key>q/a/d</Key></Contents>\
            <Contents><Key>p/b</Key></Contents></ListBucketResult>
            """
        try await Lab.run(prefix: "p/") { lab in
            lab.gateway.next(.body(text))
            let listed = try await lab.store.list("a")
            #expect(listed == ["a/c"])
        }
    }

    /// A bucket that is gone is not an empty one: a log that takes it for one would begin anew.
    @Test func onlyAMissingObjectIsMissing() async throws {
        try await Lab.run { lab in
            for code in ["NoSuchBucket", ""] {
                lab.gateway.next(.answer(404, code: code))
                await #expect(throws: ObjectFault.refused(.status(404, code: code))) { try await lab.store.get("a") }
            }
            let there = try await lab.store.get("a")
            #expect(there == nil)
        }
    }

    // MARK: Credentials

    @Test func aWrongSecretIsRefusedInWords() async throws {
        try await Lab.run(secret: "another-secret") { lab in
            let refused = ObjectFault.refused(.status(403, code: "SignatureDoesNotMatch"))
            await #expect(throws: refused) { try await lab.store.get("a") }
            await #expect(throws: refused) { try await lab.store.putImmutable([1], at: "a", retry: retry) }
        }
    }

    @Test func aClockThatIsWrongIsRefusedInWords() async throws {
        for seconds in [Lab.seconds - 901, Lab.seconds + 901] {
            try await Lab.run(at: seconds) { lab in
                await #expect(throws: ObjectFault.refused(.status(403, code: "RequestTimeTooSkewed"))) {
                    try await lab.store.putImmutable([1], at: "a", retry: retry)
                }
            }
        }
    }

    @Test func theSecretIsInNoRequestAndNoError() async throws {
        try await Lab.run { lab in
            try await lab.store.putImmutable([1], at: "a")
            lab.gateway.next(.answer(403, code: "AccessDenied"))
            let error = await #expect(throws: ObjectFault.self) { try await lab.store.get("a") }
            let seen = lab.gateway.seen.flatMap { [$0.uri] + $0.headers.values }.joined()
            #expect(!"\(seen) \(String(reflecting: error))".contains("a-secret-of-the-tests"))
        }
    }

    // MARK: Opening

    private func open(
        _ habits: PaperGateway.Habits, _ body: (PaperGateway, S3Objects) async throws -> Void = { _, _ in }
    ) async throws {
        let gateway = try await PaperGateway(Lab.credentials(), habits)
        let result: Result<Void, any Error>
        do {
            let store = try await S3Objects.open(Lab.configuration(gateway))
            do { result = .success(try await body(gateway, store)) } catch { result = .failure(error) }
            await store.close()
        } catch {
            await gateway.close()
            throw error
        }
        await gateway.close()
        try result.get()
    }

    @Test func theFormOfTagsIsFoundOut() async throws {
        for isBare in [false, true] {
            var habits = PaperGateway.Habits()
            habits.wantsBareTags = isBare
            try await open(habits) { gateway, store in
                for rule in [ObjectRule.swapsFollowTheTag, .aStaleTagChangesNothing, .aProbeLeavesNothing] {
                    try await rule.check(store, at: rule.rawValue)
                }
                let last = gateway.seen.last { $0.headers["if-match"] != nil }
                #expect(last?.headers["if-match"]?.hasPrefix("\"") == !isBare)
            }
        }
    }

    @Test func aStoreThatIgnoresConditionsIsRefused() async throws {
        var habits = PaperGateway.Habits()
        habits.ignoresAbsence = true
        await #expect(throws: S3OpenError.probe(.ignoresAbsence)) { try await open(habits) }
        habits = PaperGateway.Habits()
        habits.ignoresVersions = true
        await #expect(throws: S3OpenError.probe(.ignoresVersion)) { try await open(habits) }
        habits = PaperGateway.Habits()
        habits.losesBytes = true
        await #expect(throws: S3OpenError.probe(.losesBytes)) { try await open(habits) }
    }
}
