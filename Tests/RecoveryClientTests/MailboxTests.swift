import Crypto
import KeyTransparency
import RecoveryStore
import SignetAPI
import SignetClient
import Testing

@testable import RecoveryClient

/// What the server takes, how much of it, and from whom.
@Suite struct MailboxTests {
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

    @Test func lettersComeInOrderAndAreDroppedWhenDone() async throws {
        for byte: UInt8 in 1...3 { #expect(try await call(ana, .send, letter(to: ben, byte)) == [0]) }
        let all = try RecoveryLetterList(decoding: await call(ben, .letters, [UInt8](repeating: 0, count: 8))).letters
        #expect(all.map { $0.body[0] } == [1, 2, 3] && all.allSatisfy { $0.sender == ana.handle })
        let middle = (0..<8).reversed().map { UInt8(truncatingIfNeeded: all[1].number >> (8 * UInt64($0))) }
        _ = try await call(ben, .drop, middle)
        let rest = try RecoveryLetterList(decoding: await call(ben, .letters, [UInt8](repeating: 0, count: 8))).letters
        #expect(rest == [all[2]])
        #expect(try RecoveryLetterList(decoding: await call(ana, .letters, middle)).letters.isEmpty)
    }

    @Test func oneSenderFillsNobodysBox() async throws {
        for _ in 0..<MailboxStore.lettersPerSender { #expect(try await call(ana, .send, letter(to: ben, 1)) == [0]) }
        #expect(try await call(ana, .send, letter(to: ben, 1)) == [RecoveryVerdict.full.rawValue])
        #expect(try await call(ben, .send, letter(to: ben, 1)) == [0])
        village.clock.advance(MailboxStore.letterLifetime + 1)
        try await village.pass(0)
        #expect(try await call(ana, .send, letter(to: ben, 1)) == [0])
    }

    @Test func nobodyGetsNoLetters() async throws {
        let nobody = try Villager("nobody", in: village)
        #expect(try await call(ana, .send, letter(to: nobody, 1)) == [RecoveryVerdict.nobody.rawValue])
        #expect(try await code(nobody, .send, letter(to: ana, 1)) == .notYourAccount)
    }

    @Test func theNewestTwoFilesAreKeptAndOnlyUnderTheirOwnersName() async throws {
        func file(_ byte: UInt8) -> RecoveryFile {
            RecoveryFile(
                commitment: [UInt8](repeating: byte, count: 32),
                bytes: [UInt8](repeating: byte, count: RecoveryFile.paddingStep))
        }
        for byte: UInt8 in 1...3 { _ = try await call(ana, .storeFile, file(byte).encoded) }
        #expect(try await code(ana, .file, file(1).commitment + ana.handle.bytes) == .notFound)
        for byte: UInt8 in 2...3 {
            #expect(try await call(ben, .file, file(byte).commitment + ana.handle.bytes) == file(byte).bytes)
        }
        #expect(try await code(ben, .file, file(3).commitment + ben.handle.bytes) == .notFound)
    }

    @Test func aRequestThatTheLogDoesNotShowIsNotKept() async throws {
        let key = P256.Signing.PrivateKey()
        let commitment = try RecoveryCommitment(
            epoch: 1, delay: 5, recoveryKey: Array(key.publicKey.compressedRepresentation), bundle: [],
            askKey: [UInt8](repeating: 1, count: 32))
        let start = try RecoveryStart(
            request: Array(SHA256.hash(data: [1])), identityKey: Array(key.publicKey.compressedRepresentation),
            commitment: commitment, started: village.clock.now, expires: village.clock.now + 100)
        let asking = RecoveryAsking(
            owner: ana.handle, box: [UInt8](repeating: 1, count: 32), start: start, request: [1])
        #expect(try await code(ben, .ask, asking.encoded) == .notFound)
        #expect(try await code(ben, .asked, ana.handle.bytes) == .notFound)
    }

    @Test func answersAreForWhoeverHasTheSecret() async throws {
        let collection = RecoveryCollection(
            request: [UInt8](repeating: 1, count: 32), secret: [UInt8](repeating: 2, count: 32), after: 0, reveal: [])
        #expect(try await code(ana, .answers, collection.encoded) == .notFound)
        let body = [UInt8](repeating: 1, count: RecoveryLetter.bodyByteCount)
        let answer = RecoveryAnswer(to: collection.request, body: body)
        #expect(try await call(ana, .answer, answer.encoded) == [RecoveryVerdict.nobody.rawValue])
    }

    /// Section 9.10: bytes cut short, left over, of other lengths; none is answered but with a refusal.
    @Test func malformedBodiesAreRefused() async throws {
        let good: [(RecoveryRoute, [UInt8])] = [
            (.storeFile, [UInt8](repeating: 0, count: 32 + RecoveryFile.paddingStep)),
            (.send, letter(to: ben, 1)), (.letters, [UInt8](repeating: 0, count: 8)),
            (.drop, [UInt8](repeating: 0, count: 8)),
            (.answer, [UInt8](repeating: 0, count: 32 + RecoveryLetter.bodyByteCount)),
        ]
        for (route, body) in good {
            #expect(try await code(ana, route, body) == nil)
            for bad in [Array(body.dropLast()), body + [0], []] {
                #expect(try await code(ana, route, bad) == .badRequest, "\(route)")
            }
        }
        for route in [RecoveryRoute.file, .ask, .asked, .answers] {
            for bad in [[], [1], [UInt8](repeating: 0xFF, count: 200)] {
                #expect(try await code(ana, route, bad) == .badRequest, "\(route)")
            }
        }
    }

    @Test func anErasedPersonLeavesNothingInTheMailbox() async throws {
        _ = try await call(ana, .send, letter(to: ben, 1))
        _ = try await call(ben, .send, letter(to: ana, 1))
        try await village.mailbox.erase(ana.handle)
        #expect(try await village.mailbox.letters(to: ana.handle, after: 0).letters.isEmpty)
        #expect(try await village.mailbox.letters(to: ben.handle, after: 0).letters.isEmpty)
    }
}
