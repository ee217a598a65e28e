// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DeviceIdentity
import DurableStorage
import Foundation
import GRDB
import KeyTransparency
import SQLStores
import SignetAPI
import SignetClient
import SocialRecovery
import Testing

@testable import RecoveryClient
@testable import RecoveryStore

/// The messages that the server accepts, their limits, and their senders.
@Suite(.everyEngine) struct MailboxTests {
    let village: Village
    let ana: Villager
    let ben: Villager

    init() async throws {
        village = try await Village()
        ana = try Villager("ana", in: village)
        ben = try Villager("ben", in: village)
        for person in [ana, ben] { _ = try await person.client.createAccount(person.secrets) }
    }

    private func call(_ person: Villager, _ route: RecoveryRoute, _ body: [UInt8]) async throws -> [UInt8] {
        try await RecoveryPost(person.client, person.secrets).call(route, body)
    }

    private func code(_ person: Villager, _ route: RecoveryRoute, _ body: [UInt8]) async throws -> ErrorCode? {
        do {
            _ = try await call(person, route, body)
            return nil
        } catch RecoveryClientError.client(.refused(let code, _)) { return code }
    }

    private func letter(to person: Villager, _ byte: UInt8) -> [UInt8] {
        RecoveryLetter.Draft(
            to: person.handle, body: [UInt8](repeating: byte, count: RecoveryLetter.bodyByteCount)
        ).encoded
    }

    @Test func lettersArriveInOrder_andTheirRecipientDropsThem() async throws {
        for byte: UInt8 in 1...3 { #expect(try await call(ana, .send, letter(to: ben, byte)) == [0]) }
        let all = try RecoveryLetterList(decoding: await call(ben, .letters, [UInt8](repeating: 0, count: 8))).letters
        #expect(all.map { $0.body[0] } == [1, 2, 3] && all.allSatisfy { $0.sender == ana.handle })
        let middle = (0..<8).reversed().map { UInt8(truncatingIfNeeded: all[1].number >> (8 * UInt64($0))) }
        _ = try await call(ana, .drop, RecoveryDrop([all[1].number]).encoded)
        _ = try await call(ben, .drop, RecoveryDrop([all[0].number, all[1].number]).encoded)
        let rest = try RecoveryLetterList(decoding: await call(ben, .letters, [UInt8](repeating: 0, count: 8))).letters
        #expect(rest == [all[2]])
        #expect(try RecoveryLetterList(decoding: await call(ana, .letters, middle)).letters.isEmpty)
    }

    @Test func aSenderIsLimitedInEachMailbox() async throws {
        for byte in 0..<UInt8(MailboxStore.lettersPerSender) {
            #expect(try await call(ana, .send, letter(to: ben, byte)) == [0])
        }
        #expect(try await call(ana, .send, letter(to: ben, 200)) == [RecoveryVerdict.full.rawValue])
        #expect(try await call(ben, .send, letter(to: ben, 1)) == [0])
        village.clock.advance(MailboxStore.letterLifetime + 1)
        try await village.pass(0)
        #expect(try await call(ana, .send, letter(to: ben, 1)) == [0])
    }

    /// A signed request is accepted again after a restart; its letter is kept once.
    @Test func theSameLetterTwiceIsKeptOnce() async throws {
        for _ in 0..<2 { #expect(try await call(ana, .send, letter(to: ben, 1)) == [0]) }
        #expect(try await village.mailbox.letters(to: ben.handle, after: 0).letters.count == 1)
    }

    /// The attack: strangers fill a guardian's box, so that no owner can appoint, refresh or warn them.
    @Test func strangersTakeNoRoomOfFriends_andTheLargestSenderLosesFirst() async throws {
        let (mailbox, now) = (village.mailbox, village.clock.now)
        func draft(_ byte: UInt8) -> RecoveryLetter.Draft {
            RecoveryLetter.Draft(to: ben.handle, body: [UInt8](repeating: byte, count: RecoveryLetter.bodyByteCount))
        }
        // A friend who writes more than any stranger does not count among the strangers.
        for byte: UInt8 in 0..<20 {
            #expect(try await mailbox.keep(draft(byte), from: ana.handle, isFriend: true, at: now) == .taken)
        }
        let honest = try Villager("honest", in: village)
        #expect(try await mailbox.keep(draft(1), from: honest.handle, isFriend: false, at: now) == .taken)
        for number in 0..<30 {
            let greedy = try Villager("greedy\(number)", in: village)
            for byte: UInt8 in 0..<8 {
                #expect(try await mailbox.keep(draft(byte), from: greedy.handle, isFriend: false, at: now) == .taken)
            }
        }
        var kept = try await mailbox.letters(to: ben.handle, after: 0).letters
        while let page = try? await mailbox.letters(to: ben.handle, after: kept.last?.number ?? 0).letters,
            !page.isEmpty
        {
            kept += page
        }
        let first = kept.prefix(21).map(\.sender)
        #expect(first.prefix(20).allSatisfy { $0 == ana.handle } && first.last == honest.handle)
        #expect(kept.count == MailboxStore.lettersOfStrangers + 20)
    }

    /// The attack: an account writes to all others, to fill the server's disk. Its letters to friends still have room.
    @Test func anAccountsLettersToStrangersAreLimited() async throws {
        let (mailbox, now) = (village.mailbox, village.clock.now)
        func draft(_ recipient: Handle, _ byte: UInt8) -> RecoveryLetter.Draft {
            RecoveryLetter.Draft(to: recipient, body: [UInt8](repeating: byte, count: RecoveryLetter.bodyByteCount))
        }
        var taken = 0
        for number in 0..<40 {
            let recipient = try Handle(typed: Array("p\(number)@example.org".utf8))
            for byte: UInt8 in 0..<8 {
                let verdict = try await mailbox.keep(draft(recipient, byte), from: ana.handle, isFriend: false, at: now)
                taken += verdict == .taken ? 1 : 0
            }
        }
        #expect(taken == MailboxStore.lettersToStrangers)
        #expect(try await mailbox.keep(draft(ben.handle, 1), from: ana.handle, isFriend: true, at: now) == .taken)
        let honest = try Villager("honest", in: village)
        #expect(try await mailbox.keep(draft(ben.handle, 2), from: honest.handle, isFriend: false, at: now) == .taken)
        let later = now + MailboxStore.letterLifetime + 1
        #expect(try await mailbox.keep(draft(ben.handle, 3), from: ana.handle, isFriend: false, at: later) == .taken)
    }

    /// A letter counts as a friend's or a stranger's by the friendship at its arrival.
    @Test func lettersOfAFriendAreKeptAlthoughTheSenderIsAStrangerNow() async throws {
        let (mailbox, now) = (village.mailbox, village.clock.now)
        func draft(_ byte: UInt8) -> RecoveryLetter.Draft {
            RecoveryLetter.Draft(to: ben.handle, body: [UInt8](repeating: byte, count: RecoveryLetter.bodyByteCount))
        }
        #expect(try await mailbox.keep(draft(255), from: ana.handle, isFriend: true, at: now) == .taken)
        for byte: UInt8 in 0..<20 {
            _ = try await mailbox.keep(draft(byte), from: ana.handle, isFriend: false, at: now)
        }
        for number in 0..<30 {
            let other = try Villager("other\(number)", in: village)
            for byte: UInt8 in 0..<4 {
                _ = try await mailbox.keep(draft(byte), from: other.handle, isFriend: false, at: now)
            }
        }
        let first = try #require(try await mailbox.letters(to: ben.handle, after: 0).letters.first)
        #expect(first.sender == ana.handle && first.body.first == 255)
    }

    /// A letter that no device can open does not stay in front of readable ones.
    @Test func anUnreadableLetterIsDroppedByTheFirstDeviceOfTheAccount() async throws {
        _ = try await call(ana, .send, letter(to: ben, 1))
        #expect(try await ben.guardian.advance().isEmpty)
        #expect(try await village.mailbox.letters(to: ben.handle, after: 0).letters.isEmpty)
    }

    @Test func aPersonWithoutAnAccountNeitherGetsNorSendsLetters() async throws {
        let nobody = try Villager("nobody", in: village)
        #expect(try await call(ana, .send, letter(to: nobody, 1)) == [RecoveryVerdict.nobody.rawValue])
        #expect(try await code(nobody, .send, letter(to: ana, 1)) == .notYourAccount)
    }

    /// A file as `RecoveryContents` lays it out, with a journal of these records, which ana's device signed.
    private func file(_ byte: UInt8, records: [UInt8] = [], at version: UInt64 = 1) throws -> RecoveryFile {
        let scope = [UInt8](repeating: byte, count: 32) + [0, 0, 0, 1]
        var bundle = Array("signet-bundle/v2\n".utf8) + scope + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 5]
        bundle += [UInt8](repeating: 0, count: RecoveryFileParts.bundleByteCount - bundle.count)
        let promise = try RecoveryCommitment(
            epoch: 1, delay: 5, recoveryKey: Array(key.publicKey.compressedRepresentation), bundle: bundle,
            askKey: Array(askKey.publicKey.rawRepresentation))
        var journal = ByteWriter()
        journal.write("signet-journal/v2\n")
        journal.write(scope)
        journal.write(UInt32(records.count))
        for record in try signed(records, at: version, in: scope) { record.write(to: &journal) }
        var file = ByteWriter()
        file.write("signet-recovery-file/v2\n")
        file.write(promise.encoded)
        for part in [bundle, journal.bytes] {
            file.write(UInt32(part.count))
            file.write(part)
        }
        let step = RecoveryFile.paddingStep
        let padding = [UInt8](repeating: 0, count: (step - file.bytes.count % step) % step)
        return RecoveryFile(commitment: promise.hash, bytes: file.bytes + padding)
    }

    private func signed(_ bytes: [UInt8], at version: UInt64, in scope: [UInt8]) throws -> [JournalRecord] {
        try bytes.reduce(into: []) { records, byte in
            let sealed = [UInt8](repeating: byte, count: 1136 + 512)
            let statement = JournalRecord.statement(1, version, sealed, after: records.head, in: scope)
            records.append(
                JournalRecord(device: 1, version: version, sealed: sealed, signature: try ana.secrets.sign(statement)))
        }
    }

    @Test func theNewestTwoFilesAreKept_forTheirOwnerOnly() async throws {
        for byte: UInt8 in 1...3 { _ = try await call(ana, .storeFile, file(byte).encoded) }
        #expect(try await code(ana, .file, file(1).commitment) == .notFound)
        for byte: UInt8 in 2...3 { #expect(try await call(ana, .file, file(byte).commitment) == file(byte).bytes) }
        #expect(try await code(ben, .file, file(3).commitment) == .notFound)
    }

    /// The attack: a thief with a device of the owner stores files until the one that guardians open is evicted.
    @Test func aFileThatTheLogNamesIsNeverEvicted() async throws {
        let mailbox = village.mailbox
        let named = try file(1)
        try await mailbox.keep(named, of: ana.handle, sparing: [], at: 1)
        for byte: UInt8 in 2...9 {
            try await mailbox.keep(file(byte), of: ana.handle, sparing: [named.commitment], at: 1)
        }
        #expect(try await mailbox.file(under: named.commitment, of: ana.handle) == named.bytes)
        #expect(try await mailbox.file(under: file(7).commitment, of: ana.handle) == nil)
        #expect(try await mailbox.file(under: file(8).commitment, of: ana.handle) != nil)
    }

    /// The same through the server, which knows that file from the log.
    @Test func theFileOfTheGuardiansInForceIsNotEvicted() async throws {
        let family = try await Family()
        try await family.setUp()
        let named = try #require(try family.ming.owner.current()).commitment.hash
        let thief = RecoveryPost(try family.ming.client, family.ming.secrets)
        for byte: UInt8 in 1...4 { _ = try await thief.call(.storeFile, file(byte).encoded) }
        let mailbox = family.village.mailbox
        #expect(try await mailbox.file(under: file(2).commitment, of: family.ming.handle) == nil)
        #expect(try await mailbox.file(under: named, of: family.ming.handle) != nil)
    }

    @Test func aFileUnderAnotherCommitmentOrWithAnotherBundleIsRefused() async throws {
        let (one, two) = (try file(1), try file(2))
        let mixed = RecoveryFile(commitment: one.commitment, bytes: two.bytes)
        #expect(try await code(ana, .storeFile, mixed.encoded) == .badRequest)
        var bytes = one.bytes
        bytes["signet-recovery-file/v2\n".utf8.count + RecoveryCommitment.byteCount + 4] ^= 1
        #expect(
            try await code(ana, .storeFile, RecoveryFile(commitment: one.commitment, bytes: bytes).encoded)
                == .badRequest)
    }

    @Test func aJournalOnlyGrows() async throws {
        _ = try await call(ana, .storeFile, file(1, records: [1, 2, 3]).encoded)
        for records: [UInt8] in [[], [1, 2], [1, 2, 4], [9, 1, 2, 3]] {
            #expect(try await code(ana, .storeFile, file(1, records: records).encoded) == .versionConflict)
        }
        for records: [UInt8] in [[1, 2, 3], [1, 2, 3, 4]] {
            _ = try await call(ana, .storeFile, file(1, records: records).encoded)
        }
    }

    private let askKey = Curve25519.Signing.PrivateKey()
    private let key = P256.Signing.PrivateKey()

    private func asking(
        _ byte: UInt8, startedBy endorser: Curve25519.Signing.PrivateKey? = nil
    ) throws -> RecoveryAsking {
        let identity = Array(key.publicKey.compressedRepresentation)
        let commitment = try RecoveryCommitment(
            epoch: 1, delay: 5, recoveryKey: identity, bundle: [], askKey: Array(askKey.publicKey.rawRepresentation))
        let (request, expires) = (Array(SHA256.hash(data: [byte])), village.clock.now + 100)
        let start = try endorser.map { endorser in
            try RecoveryStart(
                request: request, identityKey: identity, commitment: commitment, started: village.clock.now,
                expires: expires,
                endorsement: RecoveryEndorsement(
                    of: request, identityKey: identity, commitment: commitment, expires: expires,
                    at: village.clock.now, signing: { Array(try endorser.signature(for: $0)) }))
        }
        return RecoveryAsking(
            owner: ana.handle, box: [UInt8](repeating: 1, count: 32), commitment: commitment, start: start,
            request: [byte])
    }

    private func query(_ wanted: RecoveryQuery.Wanted) -> RecoveryQuery {
        RecoveryQuery(wanted, for: ana.handle, from: ben.handle) {
            (try? askKey.signature(for: $0)).map(Array.init) ?? []
        }
    }

    /// The answer that ben, who holds the ask key, gets about a request.
    private func seen(_ asking: RecoveryAsking) async throws -> RecoveryAsked? {
        try await village.mailbox.request(query(.request(asking.requestHash)), from: ben.handle)
    }

    private func answer(
        _ asking: RecoveryAsking, _ byte: UInt8, from sender: Villager, by signer: Curve25519.Signing.PrivateKey
    ) -> RecoveryAnswer {
        RecoveryAnswer(
            to: asking.requestHash, body: [UInt8](repeating: byte, count: RecoveryLetter.bodyByteCount),
            from: sender.handle, signing: { (try? signer.signature(for: $0)).map(Array.init) ?? [] })
    }

    @Test func aRequestByACommitmentThatTheAccountDoesNotHaveIsNotKept() async throws {
        #expect(try await code(ben, .ask, asking(1).encoded) == .notFound)
        #expect(try await code(ben, .ask, asking(1, startedBy: askKey).encoded) == .notFound)
        #expect(try await code(ben, .asked, query(.request(asking(1).requestHash)).encoded) == .notFound)
        #expect(try await code(ben, .asked, query(.logged).encoded) == .notFound)
    }

    /// The attack: strangers ask for the same account again and again, until there is no room.
    @Test func theNetworkWithMostRequestsLosesItsOwn() async throws {
        let (mailbox, now) = (village.mailbox, village.clock.now)
        let logged = try asking(255, startedBy: askKey)
        try await mailbox.keep(logged, from: [1], at: now)
        let honest = try asking(254)
        try await mailbox.keep(honest, from: [2], at: now)
        for byte: UInt8 in 0..<100 { try await mailbox.keep(asking(byte), from: [1], at: now) }
        #expect(try await seen(honest)?.request == honest.request)
        #expect(try await mailbox.request(query(.logged), from: ben.handle)?.start == logged.start)
        #expect(try await seen(asking(0)) != nil)
        #expect(try await seen(asking(UInt8(MailboxStore.requestsPerAccount) - 2)) != nil)
        #expect(try await seen(asking(UInt8(MailboxStore.requestsPerAccount) - 1)) == nil)
        #expect(try await seen(asking(99)) == nil)
    }

    /// The attack: a stranger has more networks of one provider than there is room for, and asks before the person does.
    @Test(
        arguments: [
            (6, [32, 1, 13, 184, 0, 0], [32, 1, 13, 185, 0, 0, 0, 0]),
            (6, [32, 1, 13, 184, 0], [32, 1, 13, 185, 0, 0, 0, 0]),
            (6, [32, 1, 13, 184, 0, 0], [32, 1, 13, 184, 0, 1, 0, 0]),
            (4, [0, 0, 0, 0, 192, 0], [0, 0, 0, 0, 198, 51, 100, 7]),
            (4, [0, 0, 0, 0, 192, 0, 2], [0, 0, 0, 0, 192, 0, 3, 7]),
        ] as [(UInt8, [UInt8], [UInt8])])
    func theNetworksOfOneProviderCountAsOne(version: UInt8, prefix: [UInt8], own: [UInt8]) async throws {
        let (mailbox, now) = (village.mailbox, village.clock.now)
        for byte: UInt8 in 0..<100 {
            let rest = [UInt8](repeating: 0, count: 7 - prefix.count)
            try await mailbox.keep(asking(byte), from: [version] + prefix + [byte] + rest, at: now)
        }
        let person = try asking(254)
        #expect(try await mailbox.keep(person, from: [version] + own, at: now) != nil)
        for byte: UInt8 in 100..<200 {
            let rest = [UInt8](repeating: 0, count: 7 - prefix.count)
            try await mailbox.keep(asking(byte), from: [version] + prefix + [byte] + rest, at: now)
        }
        #expect(try await seen(person)?.request == person.request)
    }

    /// The attack: a stranger asks from more networks than there is room for.
    @Test func aRequestThatAGuardianAnsweredIsKept() async throws {
        let (mailbox, now) = (village.mailbox, village.clock.now)
        let (answered, waiting) = (try asking(254), try asking(253))
        for asking in [answered, waiting] { try await mailbox.keep(asking, from: [0, 0], at: now) }
        let answer = answer(answered, 1, from: ben, by: askKey)
        #expect(try await mailbox.keep(answer, from: ben.handle, at: now) == .taken)
        let later = now + MailboxStore.earlierFirst + 1
        for byte: UInt8 in 0..<100 { try await mailbox.keep(asking(byte), from: [1, byte], at: later) }
        #expect(try await seen(waiting) == nil, "as greedy as the others, and there for more than an hour")
        #expect(try await seen(answered)?.request == answered.request)
    }

    /// The attack: a stranger who knows the number computes another request with the same number.
    @Test func aSecondRequestOfTheSameNumberGetsTheNextNumber() async throws {
        let mailbox = village.mailbox
        var found: [RequestNumber: [UInt8]] = [:]
        var pair: ([UInt8], [UInt8])?
        for count in UInt32(0)..<200_000 {
            let request = withUnsafeBytes(of: count.bigEndian) { Array($0) }
            let number = RequestNumber(ofRequest: Array(SHA256.hash(data: request)))
            if let other = found.updateValue(request, forKey: number) {
                pair = (other, request)
                break
            }
        }
        let (first, second) = try #require(pair)
        let template = try asking(1)
        func numbered(_ request: [UInt8]) -> RecoveryAsking {
            RecoveryAsking(
                owner: ana.handle, box: template.box, commitment: template.commitment, start: nil, request: request)
        }
        var numbers: [RequestNumber] = []
        for (network, request) in [(UInt8(1), first), (2, second), (1, first)] {
            let kept = try await mailbox.keep(numbered(request), from: [network], at: village.clock.now)
            numbers.append(try #require(kept))
        }
        #expect(numbers == [numbers[0], numbers[0].next, numbers[0]])
        for (number, request) in zip(numbers, [first, second]) {
            #expect(try await mailbox.request(query(.number(number)), from: ben.handle)?.request == request)
        }
    }

    @Test func theNumberAfterTheLastIsTheFirst() throws {
        #expect(try #require(RequestNumber(99_999_999)).next.value == 0)
        #expect(RequestNumber(100_000_000) == nil)
    }

    /// The attack: a stranger behind the same address keeps asking after the person did.
    @Test func laterRequestsOfANetworkDoNotEvictAnEarlierOne() async throws {
        let (mailbox, now) = (village.mailbox, village.clock.now)
        let honest = try asking(254)
        try await mailbox.keep(honest, from: [1], at: now)
        for byte: UInt8 in 0..<100 { try await mailbox.keep(asking(byte), from: [1], at: now) }
        #expect(try await seen(honest) != nil)
        #expect(try await mailbox.keep(asking(99), from: [1], at: now) == nil, "it is told that there is no room")
    }

    /// The attack: requests wait for ever, so that there is no room for others behind the same address.
    @Test func aRequestThatWaitedForAnHourMayBeEvicted() async throws {
        let (mailbox, now) = (village.mailbox, village.clock.now)
        for byte: UInt8 in 0..<64 { try await mailbox.keep(asking(byte), from: [1], at: now) }
        let honest = try asking(254)
        let later = now + MailboxStore.earlierFirst
        #expect(try await mailbox.keep(honest, from: [1], at: later) == nil)
        #expect(try await mailbox.keep(honest, from: [1], at: later + 1) != nil)
        #expect(try await seen(asking(0)) == nil)
    }

    /// The attack: sixteen accounts of strangers fill the box, and the guardian's answer finds no room.
    @Test func anAnswerBySomeoneWithoutTheAskKeyIsRefused() async throws {
        let (mailbox, now, asking) = (village.mailbox, village.clock.now, try asking(1))
        try await mailbox.keep(asking, from: [1], at: now)
        let stranger = Curve25519.Signing.PrivateKey()
        #expect(
            try await mailbox.keep(answer(asking, 1, from: ben, by: stranger), from: ben.handle, at: now)
                == .notGuardian)
        // Nor is another person's answer under one's own name.
        let anas = answer(asking, 1, from: ana, by: askKey)
        #expect(try await mailbox.keep(anas, from: ben.handle, at: now) == .notGuardian)
        #expect(try await mailbox.keep(anas, from: ana.handle, at: now) == .taken)
    }

    @Test func theSenderWithMostAnswersLosesTheOldest() async throws {
        let (mailbox, now, secret) = (village.mailbox, village.clock.now, [UInt8](repeating: 7, count: 32))
        let template = try asking(1)
        let asking = RecoveryAsking(
            owner: ana.handle, box: Array(SHA256.hash(data: secret)), commitment: template.commitment, start: nil,
            request: [1])
        try await mailbox.keep(asking, from: [1], at: now)
        #expect(try await mailbox.keep(answer(asking, 1, from: ana, by: askKey), from: ana.handle, at: now) == .taken)
        for number in 0..<40 {
            let greedy = try Villager("greedy\(number)", in: village)
            for byte: UInt8 in 0..<8 {
                let more = answer(asking, byte, from: greedy, by: askKey)
                #expect(try await mailbox.keep(more, from: greedy.handle, at: now) == .taken)
            }
            let much = try await mailbox.keep(answer(asking, 9, from: greedy, by: askKey), from: greedy.handle, at: now)
            #expect(number > 0 || much == .full)
        }
        let collection = RecoveryCollection(request: asking.requestHash, secret: secret, after: 0, reveals: [])
        let kept = try #require(try await mailbox.answers(collection)).letters
        #expect(kept.count == MailboxStore.answersPerRequest && kept.first?.sender == ana.handle)
        let beyond = RecoveryCollection(
            request: asking.requestHash, secret: secret, after: try #require(kept.last?.number), reveals: [])
        #expect(try await mailbox.answers(beyond)?.letters.isEmpty == true, "and no more after them")
    }

    /// The attack: an attacker with the ask key answers under so many names that the guardian's answer is evicted.
    @Test func answersOfAGuardianWhoWasShownANumberAreKept() async throws {
        let (mailbox, now, secret) = (village.mailbox, village.clock.now, [UInt8](repeating: 7, count: 32))
        let template = try asking(1)
        let asking = RecoveryAsking(
            owner: ana.handle, box: Array(SHA256.hash(data: secret)), commitment: template.commitment, start: nil,
            request: [1])
        try await mailbox.keep(asking, from: [1], at: now)
        #expect(try await mailbox.keep(answer(asking, 1, from: ana, by: askKey), from: ana.handle, at: now) == .taken)
        let shown = RecoveryReveal(
            to: ana.handle, number: [UInt8](repeating: 1, count: RecoveryReveal.byteCount))
        let collection = RecoveryCollection(
            request: asking.requestHash, secret: secret, after: 0, reveals: [shown])
        #expect(try await mailbox.answers(collection)?.letters.count == 1)
        for number in 0..<MailboxStore.answersPerRequest {
            let other = try Villager("other\(number)", in: village)
            _ = try await mailbox.keep(answer(asking, 1, from: other, by: askKey), from: other.handle, at: now)
        }
        let kept = try #require(try await mailbox.answers(collection)).letters
        #expect(kept.count == MailboxStore.answersPerRequest && kept.first?.sender == ana.handle)
        // Each guardian is shown only the number that was revealed to them.
        let anas = RecoveryQuery(.request(asking.requestHash), for: ana.handle, from: ana.handle) {
            (try? askKey.signature(for: $0)).map(Array.init) ?? []
        }
        #expect(try await mailbox.request(anas, from: ana.handle)?.reveal == shown.number)
        #expect(try await mailbox.request(anas, from: ben.handle) == nil, "under another's name")
        #expect(try await seen(asking)?.reveal == .some(nil))
    }

    /// The attack: free accounts store files, letters and requests until the directory cannot write.
    @Test func aFullDiskStillTakesRequestsAndAnswers_andNothingElse() async throws {
        let (mailbox, now, waiting) = (village.mailbox, village.clock.now, try asking(2))
        try await mailbox.keep(waiting, from: [1], at: now)
        village.isFull.isSet = true
        #expect(try await call(ana, .send, letter(to: ben, 1)) == [RecoveryVerdict.full.rawValue])
        #expect(try await code(ana, .storeFile, file(1).encoded) == .unavailable)
        // A person who lost all devices can ask.
        let late = try asking(3)
        #expect(try await mailbox.keep(late, from: [1], at: now) != nil)
        #expect(try await seen(late)?.request == late.request)
        let answer = answer(waiting, 1, from: ana, by: askKey)
        // An attacker who fills the disk stops no recovery that guardians help with.
        #expect(try await mailbox.keep(answer, from: ana.handle, at: now) == .taken)
        let logged = try asking(4, startedBy: askKey)
        try await mailbox.keep(logged, from: [1], at: now)
        #expect(try await mailbox.request(query(.logged), from: ben.handle)?.start == logged.start)
        village.isFull.isSet = false
        #expect(try await call(ana, .send, letter(to: ben, 1)) == [0])
    }

    @Test func answersNeedTheSecretOfTheirRequest() async throws {
        let collection = RecoveryCollection(
            request: [UInt8](repeating: 1, count: 32), secret: [UInt8](repeating: 2, count: 32), after: 0, reveals: [])
        #expect(try await code(ana, .answers, collection.encoded) == .notFound)
        let answer = answer(try asking(7), 1, from: ana, by: askKey)
        #expect(try await call(ana, .answer, answer.encoded) == [RecoveryVerdict.nobody.rawValue])
    }

    /// Section 9.10: truncated bodies, extra bytes and other lengths are all refused.
    @Test func malformedBodiesAreRefused() async throws {
        let good: [(RecoveryRoute, [UInt8])] = [
            (.storeFile, try file(1).encoded),
            (.send, letter(to: ben, 1)), (.letters, [UInt8](repeating: 0, count: 8)),
            (.drop, [UInt8](repeating: 1, count: 8)), (.file, try file(1).commitment),
            (.answer, [UInt8](repeating: 0, count: RecoveryAnswer.byteCount)),
        ]
        for (route, body) in good {
            #expect(try await code(ana, route, body) == nil)
            for bad in [Array(body.dropLast()), body + [0], []] {
                #expect(try await code(ana, route, bad) == .badRequest, "\(route)")
            }
        }
        for route in [RecoveryRoute.askedFile, .commitment, .ask, .asked, .answers] {
            for bad in [[], [1], [UInt8](repeating: 0xFF, count: 200)] {
                #expect(try await code(ana, route, bad) == .badRequest, "\(route)")
            }
        }
    }

    /// A store from before this format, with a file, a letter and a request.
    @Test func aStoreOfTheFirstVersionKeepsItsFilesAndDropsLettersAndRequests() async throws {
        let path = village.folder + "/old.sqlite"
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Vectors/old")
        let sql = try String(contentsOf: folder.appending(path: "recovery-store-1.sql"), encoding: .utf8)
        try await DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
        let store = try MailboxStore(at: path)
        let cleo = try Handle(typed: Array("cleo@example.org".utf8))
        #expect(try await store.letters(to: cleo, after: 0).letters.isEmpty, "its form is older than X-Wing")
        func count(_ table: String) async throws -> Int? {
            try await DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
        }
        #expect(try await count("requests") == 0, "no guardian can answer it")
        #expect(try await count("files") == 1)
        store.close()
        #expect(throws: Never.self) { try MailboxStore(at: path).close() }
    }

    /// A store of version 2, in which two requests could have one number and a revealed number named no guardian.
    @Test func aStoreOfTheSecondVersionKeepsItsRequests() async throws {
        let path = village.folder + "/second.sqlite"
        let older = try SQLiteDatabase(at: path, SQLSchema("recovery", Array(RecoverySchema.schema.steps.prefix(2))))
        let (asking, other) = (try asking(1), try asking(2))
        try await older.write { database in
            for (asking, number) in [(asking, 5), (other, 5), (try self.asking(3), 6)] {
                try database.run(
                    """
                    INSERT INTO requests (owner, hash, number, box, commitment, request, network, reveal, time)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        asking.owner.bytes, asking.requestHash, number, asking.box, asking.commitment.encoded,
                        asking.request, [UInt8(1)], [UInt8](repeating: 0, count: 289), 1,
                    ])
            }
        }
        older.close()
        let store = try MailboxStore(at: path)
        let (five, six) = (try #require(RequestNumber(5)), try #require(RequestNumber(6)))
        #expect(try await store.request(query(.number(five)), from: ben.handle)?.request == [1])
        #expect(try await store.request(query(.number(six)), from: ben.handle)?.reveal == .some(nil))
        #expect(try await store.request(query(.request(other.requestHash)), from: ben.handle) == nil)
        #expect(try await store.keep(other, from: [1], at: village.clock.now) != nil, "it asks again")
    }

    @Test func erasingAnAccountRemovesItsLetters() async throws {
        _ = try await call(ana, .send, letter(to: ben, 1))
        _ = try await call(ben, .send, letter(to: ana, 1))
        try await village.mailbox.erase(ana.handle)
        #expect(try await village.mailbox.letters(to: ana.handle, after: 0).letters.isEmpty)
        #expect(try await village.mailbox.letters(to: ben.handle, after: 0).letters.isEmpty)
    }
}
