// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import ObjectTesting
import SharedLog
import Synchronization
import Testing
import TransparencyLog

/// A bucket that answers the second question for `signed`, and those after it, otherwise than the first, or not at all.
private struct TwoFacedObjects: ObjectStore {
    let objects: MemoryObjects
    let second: [UInt8]?
    let fault: ObjectFault?
    private let answers = Counter()

    init(_ objects: MemoryObjects, second: [UInt8]?, fault: ObjectFault? = nil) {
        (self.objects, self.second, self.fault) = (objects, second, fault)
    }

    func get(_ path: String) async throws(ObjectFault) -> StoredObject? {
        let object = try await objects.get(path)
        guard path == SharedLogEngines.signedPath, answers.isLater(), let object else { return object }
        if let fault { throw fault }
        return second.map { StoredObject(bytes: $0, tag: object.tag) }
    }

    func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome { try await objects.put(bytes, at: path, condition) }

    func remove(_ path: String) async throws(ObjectFault) { try await objects.remove(path) }

    func list(_ prefix: String) async throws(ObjectFault) -> [String] { try await objects.list(prefix) }

    private final class Counter: Sendable {
        private let isAnswered = Mutex(false)

        /// Whether there was an answer before this one.
        func isLater() -> Bool {
            isAnswered.withLock { before in
                defer { before = true }
                return before
            }
        }
    }
}

/// Database and `signed` are both of before, and only witnesses know of more.
struct SecondAnswerTests {
    /// What the bucket's holder answers to the second question.
    enum Second: CaseIterable {
        case nothing
        case garbage
        case older
        case newest

        func bytes(_ place: BucketPlace) throws -> [UInt8]? {
            switch self {
            case .nothing: nil
            case .garbage: Array("not a note".utf8)
            case .older: try #require(place.notes[200]).bytes
            case .newest: try #require(place.notes[600]).bytes
            }
        }

        /// What is compared with the database then.
        func seen(_ place: BucketPlace) throws -> SeenHead {
            guard self == .newest else { return try SecondAnswerTests.witnessed(600) }
            return SeenHead(try #require(place.notes[600]).head, in: .secondMemory)
        }
    }

    private static func witnessed(_ size: UInt64) throws -> SeenHead {
        SeenHead(TreeHead(size: size, root: .emptyTree), in: .witness(try BucketPlace.name(1)))
    }

    private func engines(
        _ place: BucketPlace, _ second: [UInt8]?, fault: ObjectFault? = nil
    ) -> SharedLogEngines {
        SharedLogEngines(
            database: place.fixture.engines.database,
            objects: TwoFacedObjects(place.objects, second: second, fault: fault),
            policy: place.engines.policy, origin: place.engines.origin)
    }

    /// With what the bucket had at this size as `signed` and `checkpoint`.
    private func place(_ size: UInt64) async throws -> BucketPlace {
        let place = try await BucketPlace(quorum: 2)
        try await place.fill(place.whole.keys)
        for path in ["signed", "checkpoint"] { try await place.put(try #require(place.notes[size]).bytes, at: path) }
        return place
    }

    private func lead(
        _ place: BucketPlace, _ engines: SharedLogEngines, asked size: UInt64, told: [SeenHead]
    ) async throws -> DurableLog {
        try await LogCandidate(engines, holder: "later", clock: SharedLogFixture.clock).lead(
            over: try place.fixture.link(), SharedLogFixture.facts, try BucketPlace.configuration(of: place.fixture),
            others: { asked in
                #expect(asked.head.size == size)
                return told
            })
    }

    @Test(arguments: Second.allCases)
    func whateverItIs_nobodyLeadsWhereAWitnessHasSeenMore(second: Second) async throws {
        let place = try await place(300)
        try place.restore(300)
        let conflict = HeadConflict.databaseBehind(
            seen: try second.seen(place), database: try #require(place.notes[300]).head)
        await #expect(throws: CandidacyEnd.ended(.conflict(conflict))) {
            _ = try await lead(
                place, engines(place, try second.bytes(place)), asked: 300, told: [try Self.witnessed(600)])
        }
    }

    @Test(arguments: Second.allCases)
    func whateverItIs_aRepairSaysThatAWitnessHasSeenMore(second: Second) async throws {
        let place = try await place(300)
        try place.restore(300)
        let told = [try Self.witnessed(600)]
        let report = try await LogCandidate(
            engines(place, try second.bytes(place)), holder: "repair", clock: SharedLogFixture.clock
        ).repair(over: try place.fixture.link(), SharedLogFixture.facts, others: { _ in told })
        #expect(report.entries == 0 && report.size == 300)
        #expect(report.seen.contains(try second.seen(place)))
    }

    @Test func aRepairThatPutsEntriesBackAsksWitnessesToo() async throws {
        let place = try await place(600)
        try place.restore(300)
        let told = [try Self.witnessed(700)]
        let report = try await LogCandidate(
            engines(place, nil), holder: "repair", clock: SharedLogFixture.clock
        ).repair(over: try place.fixture.link(), SharedLogFixture.facts, others: { _ in told })
        #expect(report.entries == 300 && report.size == 600)
        #expect(report.seen.contains(told[0]))
    }

    /// A database of before anything was published says, as an emptied bucket does, that nothing was signed.
    @Test func whereNothingIsRememberedWitnessesAreAskedAllTheSame() async throws {
        let fixture = try SharedLogFixture()
        try await fixture.engines.create(try fixture.configuration())
        let seen = try Self.witnessed(600)
        let conflict = HeadConflict.databaseBehind(seen: seen, database: .empty)
        await #expect(throws: CandidacyEnd.ended(.conflict(conflict))) {
            _ = try await LogCandidate(fixture.engines, holder: "later", clock: SharedLogFixture.clock).lead(
                over: try fixture.link(), SharedLogFixture.facts, try fixture.configuration(),
                others: { asked in
                    #expect(asked.head == .empty)
                    return [seen]
                })
        }
    }

    /// A leader that was not told yet has signed more meanwhile, and had it cosigned.
    @Test func whatWasSignedMeanwhileAndTheDatabaseHasStopsNobody() async throws {
        let place = try await place(300)
        try place.unpublish(300)
        let second = try #require(place.notes[400]).bytes
        let log = try await lead(place, engines(place, second), asked: 300, told: [try Self.witnessed(400)])
        await log.close()
    }

    /// The witness is honest, and nothing says what it has cosigned.
    @Test func withoutASecondAnswerNobodyIsBlamed() async throws {
        let place = try await place(300)
        try place.unpublish(300)
        let away = engines(place, nil, fault: .unavailable(.deadline))
        do {
            let log = try await lead(place, away, asked: 300, told: [try Self.witnessed(400)])
            await log.close()
            Issue.record("It led.")
        } catch let error as CandidacyEnd {
            #expect(error.isPassing, "\(error)")
        }
    }
}
