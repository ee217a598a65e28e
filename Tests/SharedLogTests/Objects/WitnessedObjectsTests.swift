// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import ObjectTesting
import SQLStores
import SharedLog
import Testing
import TransparencyLog

/// The object `signed` is the log's second memory: it is made anew only if nothing later can have been published, or the operator says so.
@Suite("What was signed last, when the bucket does not say it any more")
struct WitnessedObjectsTests {
    private static let unaccepting = BucketPlace.replacing(unconfirmed: false)

    private func words(_ sizes: [Int: UInt64]) throws -> [Policy.Name: WitnessWord] {
        Dictionary(uniqueKeysWithValues: try sizes.map { (try BucketPlace.name($0.key), .knows(size: $0.value)) })
    }

    /// A witness that is silent may have cosigned anything. A quorum has to have answered, and the silent ones must not be one.
    @Test(arguments: [
        // How many have to cosign, who answers, and whether that is enough.
        (1, [], false), (1, [1], false), (1, [1, 2], false), (1, [1, 2, 3], true),
        (2, [], false), (2, [1], false), (2, [1, 2], true), (2, [2, 3], true), (2, [1, 2, 3], true),
        (3, [], false), (3, [1], false), (3, [1, 3], false), (3, [1, 2, 3], true),
    ])
    func soManyHaveToAnswer(quorum: Int, answering: [Int], isEnough: Bool) async throws {
        let place = try await BucketPlace(quorum: quorum)
        let words = try words(Dictionary(uniqueKeysWithValues: answering.map { ($0, 600) }))
        if isEnough {
            let report = try await place.make(Self.unaccepting, words)
            #expect(report.isConfirmed && report.hasNewMemory && report.made == 7)
            #expect(report.silent == (try [1, 2, 3].filter { !answering.contains($0) }.map(BucketPlace.name)))
            #expect(try await place.signed()?.size == 600)
        } else {
            let silent = try [1, 2, 3].filter { !answering.contains($0) }.map(BucketPlace.name)
            #expect(try await place.end(Self.unaccepting, words) == .unconfirmed(silent: silent))
            // The operator's word.
            let report = try await place.make(BucketPlace.replacing(), words)
            #expect(!report.isConfirmed && report.hasNewMemory)
        }
    }

    /// The log's own cosigner remembers nothing.
    @Test(arguments: [(2, [1, 2], false), (2, [1, 2, 3], true), (2, [2, 3], true), (1, [1, 2, 3], false)])
    func theLogsOwnCosignerConfirmsNothing(quorum: Int, answering: [Int], isEnough: Bool) async throws {
        let place = try await BucketPlace(quorum: quorum)
        var configuration = try place.fixture.configuration()
        configuration.cosigners = [try BucketPlace.witnesses()[0]]
        let words = try words(Dictionary(uniqueKeysWithValues: answering.map { ($0, 600) }))
        if isEnough {
            #expect(try await place.make(Self.unaccepting, words, configuration: configuration).isConfirmed)
        } else {
            guard case .unconfirmed? = try await place.end(Self.unaccepting, words, configuration: configuration) else {
                Issue.record("It was confirmed.")
                return
            }
        }
    }

    /// One that lies stops the repair until the operator says that its word does not count; then it confirms nothing either.
    @Test(arguments: [WitnessWord.knows(size: 9_000), .otherTree])
    func aWitnessThatIsDisregardedNeitherStopsNorConfirms(lie: WitnessWord) async throws {
        let place = try await BucketPlace(quorum: 2)
        let liar = try BucketPlace.name(1)
        var words = [liar: lie]
        guard case .candidacy(.ended(.conflict))? = try await place.end(Self.unaccepting, words) else {
            Issue.record("It went on.")
            return
        }
        var request = Self.unaccepting
        request.disregarded = [liar]
        let silent = try [2, 3].map(BucketPlace.name)
        #expect(try await place.end(request, words) == .unconfirmed(silent: silent))
        words.merge(try self.words([2: 600])) { $1 }
        #expect(try await place.end(request, words) == .unconfirmed(silent: [silent[1]]), "the liar counts")
        words.merge(try self.words([3: 600])) { $1 }
        #expect(try await place.make(request, words).isConfirmed)
        #expect(try await place.signed()?.size == 600)
    }

    @Test func withoutWitnessesOnlyTheOperatorCanDecide() async throws {
        let place = try await BucketPlace()
        #expect(try await place.end(Self.unaccepting) == .unconfirmed(silent: []))
        #expect(try await place.make().isConfirmed == false)
    }

    @Test func aMemoryThatIsThereNeedsNobody() async throws {
        let place = try await BucketPlace(quorum: 2)
        try await place.fill(["signed"])
        let report = try await place.make(Self.unaccepting)
        #expect(report.made == 6 && !report.hasNewMemory)
    }

    /// Witnesses are asked by the newest note that may leave: the published one, or a later one that was remembered.
    @Test func aNoteThatNobodyHasSeenIsNotShownToWitnesses() async throws {
        let place = try await BucketPlace(quorum: 2)
        try place.unpublish(300)
        for (memory, asked) in [(nil, 300), (200, 300), (400, 400)] as [(UInt64?, UInt64)] {
            try await place.objects.remove("signed")
            if let memory { try await place.put(try #require(place.notes[memory]).bytes, at: "signed") }
            let (sizes, words) = (Counter(), [try BucketPlace.name(1): WitnessWord.otherTree])
            await #expect(throws: ObjectsRepairEnd.self) {
                try await LogCandidate(place.engines, holder: "o", clock: SharedLogFixture.clock).makeObjects(
                    over: try place.fixture.link(), SharedLogFixture.facts, try place.fixture.configuration(),
                    Self.unaccepting
                ) { checkpoint in
                    sizes.count(Int(checkpoint.head.size))
                    return words
                }
            }
            #expect(sizes.value == Int(asked))
        }
    }

    /// An older copy of the bucket has a memory that is behind what the database has published.
    @Test func aMemoryThatIsOlderThanWhatIsPublishedIsLost() async throws {
        let place = try await BucketPlace(quorum: 2)
        try place.unpublish(400)
        try await place.put(try #require(place.notes[300]).bytes, at: "signed")
        #expect(
            try await place.end(Self.unaccepting, try words([1: 400]))
                == .unconfirmed(silent: [try BucketPlace.name(2), try BucketPlace.name(3)]))
        let report = try await place.make(Self.unaccepting, try words([1: 400, 2: 300]))
        #expect(report.hasNewMemory && report.isConfirmed)
        #expect(try await place.signed() == place.notes[600]?.head)
    }

    /// A leader died after a witness had cosigned, before it could publish, and the bucket is an older copy. Nothing distinguishes that from a
    /// fork, so the operator has to say that this witness does not count.
    @Test func whatOneWitnessHasCosignedAndNobodyPublishedIsForTheOperatorToDecide() async throws {
        let place = try await BucketPlace(quorum: 2)
        try place.unpublish(300)
        try await place.put(try #require(place.notes[300]).bytes, at: "signed")
        let words = try words([1: 400, 2: 300, 3: 300])
        let seen = SeenHead(TreeHead(size: 400, root: .emptyTree), in: .witness(try BucketPlace.name(1)))
        let own = try #require(place.notes[400]).head.root
        #expect(
            try await place.end(Self.unaccepting, words)
                == .candidacy(.ended(.conflict(.forked(seen: seen, own: own)))))
        var request = Self.unaccepting
        request.disregarded = [try BucketPlace.name(1)]
        #expect(try await place.make(request, words).size == 600)
        #expect(try await place.signed() == place.notes[600]?.head)
    }

    // MARK: Attacks

    /// Whoever holds the bucket empties it, or gives back an old one, when the database was restored from an older copy: the operator is to
    /// make `signed` anew, and the log would fork.
    @Test(arguments: [true, false])
    func anOlderDatabaseIsFoundByAWitness(isEmptied: Bool) async throws {
        let place = try await BucketPlace(quorum: 2)
        try place.restore(300)
        let own = try #require(place.notes[300])
        if !isEmptied { for path in ["signed", "checkpoint"] { try await place.put(own.bytes, at: path) } }
        let seen = SeenHead(TreeHead(size: 600, root: .emptyTree), in: .witness(try BucketPlace.name(2)))
        // One is enough, and nobody's word goes over it.
        for words in [try words([2: 600]), try words([1: 300, 2: 600, 3: 300])] {
            for request in [Self.unaccepting, BucketPlace.replacing("signed")] {
                #expect(
                    try await place.end(request, words)
                        == .candidacy(.ended(.conflict(.databaseBehind(seen: seen, database: own.head)))))
            }
        }
    }

    /// Database and bucket were both restored from older copies while no witness was reached, and a leader has written what people brought,
    /// beyond what the witnesses have. To sign that would be evidence against the directory, and would take `signed` from `run` and `move`,
    /// which stop at it.
    @Test func aForkThatHasGrownBeyondWhatWitnessesHaveIsNotSigned() async throws {
        let place = try await BucketPlace(quorum: 2)
        try place.restore(300)
        let own = try #require(place.notes[300])
        for path in ["signed", "checkpoint"] { try await place.put(own.bytes, at: path) }
        _ = try await place.make()
        let leader = try await place.lead()
        _ = try await leader.append((0..<400).map { Array("other \($0)".utf8) })
        let fork = try await leader.awaitPublished(size: 700).head
        await leader.close()
        // Nobody has cosigned that, so neither was it published.
        try place.unpublish(300)
        for path in ["signed", "checkpoint"] { try await place.put(own.bytes, at: path) }
        for words in [try words([1: 600, 2: 600, 3: 600]), try words([2: 600]), try words([1: 300, 2: 600, 3: 300])] {
            for request in [Self.unaccepting, BucketPlace.replacing("signed", "checkpoint")] {
                guard
                    case .candidacy(.ended(.conflict(.forked(let seen, let root))))? = try await place.end(
                        request, words)
                else {
                    Issue.record("The fork was not named.")
                    continue
                }
                #expect(seen.head.size == 600 && root != place.notes[600]?.head.root)
            }
        }
        #expect(try await place.signed() == own.head && fork.size == 700)
    }

    @Test func aWitnessThatHasCosignedAnotherTreeStopsIt() async throws {
        let place = try await BucketPlace(quorum: 2)
        let words = [try BucketPlace.name(1): WitnessWord.knows(size: 600), try BucketPlace.name(2): .otherTree]
        guard
            case .candidacy(.ended(.conflict(.forked(let seen, _))))? = try await place.end(
                BucketPlace.replacing(), words)
        else {
            Issue.record("The fork was not named.")
            return
        }
        #expect(seen.place == .witness(try BucketPlace.name(2)))
    }

    /// What the operator has to know who goes on without witnesses: then nothing finds the older copy.
    @Test func withoutWitnessesTheOperatorsWordForksALogOverAnOlderDatabase() async throws {
        let place = try await BucketPlace()
        try place.restore(300)
        #expect(try await place.end(Self.unaccepting) == .unconfirmed(silent: []))
        _ = try await place.make()
        let leader = try await place.lead()
        _ = try await leader.append((0..<300).map { Array("other \($0)".utf8) })
        let forked = try await leader.awaitPublished(size: 600).head
        await leader.close()
        #expect(forked.root != place.notes[600]?.head.root)
    }
}

/// Each operation on the bucket fails in each way, and the same is run again.
@Suite("Objects that are made again with interruptions")
struct InterruptedObjectsTests {
    enum Kind: CaseIterable, Sendable {
        case before, after, late

        func fault(_ operation: MemoryObjects.Operation) -> MemoryObjects.Fault {
            let isWrite = if case .put = operation { true } else { false }
            return switch self {
            case .before: .before(.refused(.connection))
            case .after: .after(.refused(.connection))
            case .late: isWrite ? .late(.outcomeUnknown(.deadline)) : .before(.unavailable(.deadline))
            }
        }
    }

    /// With nothing there; and with old notes, and objects that are written over.
    @Test(arguments: Kind.allCases, [true, false])
    func whereverItIsInterruptedItIsRunAgain(kind: Kind, isEmpty: Bool) async throws {
        let (count, broken) = (Counter(), Counter())
        let place = try await BucketPlace(
            objects: MemoryObjects { count.count() == broken.value ? kind.fault($0) : nil })
        let request = BucketPlace.replacing("tile/0/000", "tail/600")
        func begin() async throws {
            place.objects.deliver()
            for path in ObjectsRepairTests.paths { try await place.objects.remove(path) }
            if !isEmpty {
                for path in ["signed", "checkpoint"] {
                    try await place.put(try #require(place.notes[300]).bytes, at: path)
                }
                for path in ["tile/0/000", "tail/600"] { try await place.put([7], at: path) }
            }
        }
        try await begin()
        let start = count.value
        _ = try await place.make(request)
        let operations = count.value - start
        // Each object is looked at and written; and it is looked for tails and for a bundle of a newer database.
        #expect(operations == 2 * ObjectsRepairTests.paths.count + 2)
        for number in 1...operations {
            try await begin()
            let before = count.value
            broken.count(before + number - broken.value)
            await #expect(throws: ObjectsRepairEnd.self, "\(number)") { try await place.make(request) }
            #expect(count.value == before + number)
            _ = try await place.make(request)
            place.objects.deliver()
            #expect(await place.engines.inspect(sealing: nil).defects == [], "\(kind), operation \(number)")
            #expect(try await place.signed() == place.notes[600]?.head)
            // What is late finds another version there also when somebody has led since.
            if number == operations - 1 { await (try await place.lead()).close() }
        }
        place.objects.deliver()
        #expect(await place.engines.inspect(sealing: nil).defects == [])
    }
}
