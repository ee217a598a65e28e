// SPDX-License-Identifier: Apache-2.0

import LogWitness
import Testing
import TransparencyLog

@testable import SignetServer

/// What a start says where too few witnesses confirm that its data is the newest, and one knows another key of the log.
struct RollbackConfirmationTests {
    private typealias Answers = [Policy.Name: WitnessMemory]

    private static let head = TreeHead(size: 9, root: .leaf([1]))
    private static let knows = WitnessMemory.notAhead(size: 9, at: nil)
    private static let refuses = WitnessMemory.unknown(.refused(.signatureRefused))
    private static let silent = WitnessMemory.unknown(.failed(.unreachable))

    private static func witness(_ number: Int) throws -> Policy.Name { try #require(Policy.Name("w\(number)".utf8)) }

    /// Three witnesses at addresses, of which two have to cosign.
    private static func policy() throws -> Policy {
        let witnesses = try (1...3).map { number in
            let signer = try NoteSigner(
                name: KeyName(Array("witness.example/\(number)".utf8)), algorithm: .cosignatureV1,
                seed: [UInt8](repeating: UInt8(number), count: 32))
            let key = String(decoding: signer.verifierKey.encoded, as: UTF8.self)
            return "witness w\(number) \(key) https://w\(number).example/\n"
        }
        return try Policy(decoding: Array("\(witnesses.joined())group seen 2 w1 w2 w3\nquorum seen\n".utf8))
    }

    /// What a start says to the answers of the three.
    private static func refusal(
        _ answers: [WitnessMemory?], rule: RollbackGuard.Rule = .confirmed, isRestored: Bool = false,
        accepting: Bool = false
    ) throws -> RollbackError? {
        var (guarding, named) = (RollbackGuard(), Answers())
        (guarding.rule, guarding.acceptsRestored) = (rule, accepting)
        for (index, answer) in answers.enumerated() { named[try witness(index + 1)] = answer }
        let policy = try policy()
        do throws(RollbackError) {
            try guarding.confirm(head, named, policy, isRestored: isRestored)
            return nil
        } catch { return error }
    }

    /// The attack is on the operator: one of three witnesses was not told of the log's new key, another is down, and they are told to restore an
    /// older copy over the newest data.
    @Test func aWitnessThatWasNotToldOfTheNewKeyIsNoReasonToRestore_whileTheOthersCanConfirm() throws {
        let refusing = try Self.witness(3)
        let waits = RollbackError.keyRefusedByTooFew(refusing, Self.head)
        #expect(try Self.refusal([Self.knows, Self.silent, Self.refuses]) == waits)
        #expect(try Self.refusal([Self.silent, Self.silent, Self.refuses]) == waits)
        #expect(try Self.refusal([Self.silent, Self.silent, Self.refuses], rule: .standard, isRestored: true) == waits)
        #expect(try Self.refusal([Self.knows, Self.knows, Self.refuses]) == nil, "the others confirm it")
    }

    @Test func whereTheOthersCannotConfirmIt_theCopyIsCalledOld() throws {
        let old = RollbackError.keyRefused(try Self.witness(2), Self.head)
        #expect(try Self.refusal([Self.knows, Self.refuses, Self.refuses]) == old)
        #expect(try Self.refusal([Self.silent, Self.refuses, Self.refuses]) == old)
        #expect(
            try Self.refusal([Self.silent, Self.refuses, nil]) == old, "a witness without an address never confirms")
    }

    /// They will answer the same tomorrow, so nobody has to wait for them.
    @Test(arguments: [
        WitnessOutcome.refused(.unknownLog), .refused(.inconsistent), .refused(.unexpectedStatus(418)),
        .refused(.malformed), .unknownKey, .invalidCosignature, .notAddressed,
    ])
    func whoAnsweredSomethingElseIsNotHopedFor(answered: WitnessOutcome) throws {
        let old = RollbackError.keyRefused(try Self.witness(2), Self.head)
        #expect(try Self.refusal([Self.knows, Self.refuses, .unknown(answered)]) == old)
    }

    @Test(arguments: [
        WitnessOutcome.failed(.unreachable), .refused(.unavailable(status: 503)), .refused(.tooManyRequests),
    ])
    func whoDidNotAnswerIsHopedFor(silent: WitnessOutcome) throws {
        let waits = RollbackError.keyRefusedByTooFew(try Self.witness(2), Self.head)
        #expect(try Self.refusal([Self.knows, Self.refuses, .unknown(silent)]) == waits)
    }

    @Test func withoutOneThatKnowsAnotherKey_itIsUnconfirmed_whereThatIsRequired() throws {
        let some = [Self.knows, Self.silent, Self.silent]
        #expect(try Self.refusal(some) == .unconfirmed(Self.head))
        #expect(try Self.refusal(some, rule: .standard, isRestored: true) == .restoredAndUnconfirmed(Self.head))
        #expect(try Self.refusal(some, rule: .standard, isRestored: true, accepting: true) == nil)
        #expect(try Self.refusal([Self.refuses, Self.refuses, Self.refuses], rule: .standard) == nil)
    }
}
