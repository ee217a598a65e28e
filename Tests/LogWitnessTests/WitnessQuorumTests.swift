// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOSSL
import Testing
import TransparencyLog

@testable import LogWitness

/// The log's side with witnesses that answer as a script says.
struct WitnessQuorumTests {
    let log: TestLog

    init() throws { log = try TestLog() }

    private func quorum(
        _ scripts: [ScriptedWitness], _ rule: String, timeout: Duration = .seconds(600)
    ) throws -> WitnessQuorum {
        let witnesses = try scripts.enumerated().map { (try witnessSigner(UInt8($0)).verifierKey, $1.url) }
        var configuration = WitnessQuorum.Configuration()
        configuration.timeout = timeout
        return try WitnessQuorum(policy(log, witnesses, rule), configuration: configuration) { currentTime() }
    }

    private func round(
        _ quorum: WitnessQuorum, _ size: UInt64, note: SignedNote? = nil
    ) async throws -> WitnessRoundReport {
        let log = log
        return await quorum.cosign(try note ?? log.note(size), head: try log.head(size)) {
            log.proof(from: $0, to: size)
        }
    }

    /// The outcome of one witness on its own.
    private func outcome(
        size: UInt64 = 9, timeout: Duration = .seconds(600), _ script: @escaping ScriptedWitness.Script
    ) async throws -> WitnessOutcome {
        let witness = try await ScriptedWitness(script)
        let quorum = try quorum([witness], "quorum w0\n", timeout: timeout)
        let round = try await round(quorum, size)
        quorum.close()
        await witness.close()
        if case .cosigned = round.reports[0].outcome {} else { #expect(!round.isQuorumMet) }
        return round.reports[0].outcome
    }

    @Test func aQuorumOfTwoOfThreeDoesNotWaitForTheThird() async throws {
        let witnesses = [
            try await ScriptedWitness { _ in .keepSilent },
            try await ScriptedWitness(ScriptedWitness.obliging(witnessSigner(1))),
            try await ScriptedWitness(ScriptedWitness.obliging(witnessSigner(2))),
        ]
        let quorum = try quorum(witnesses, "group g 2 w0 w1 w2\nquorum g\n", timeout: .seconds(600))
        let round = try await round(quorum, 9)
        #expect(round.isQuorumMet)
        #expect(round.reports[0].outcome == .late)
        #expect(round.reports.map { String(decoding: $0.name.bytes, as: UTF8.self) } == ["w0", "w1", "w2"])
        let note = try round.cosigned(log.note(9))
        #expect(try quorum.policy.verify(note).cosignatures.count == 2)
        for witness in witnesses { await witness.close() }
    }

    @Test func anUnreachableWitnessIsReported_andTheOthersCosign() async throws {
        let down = try await ScriptedWitness { _ in .hangUp }
        await down.close()
        let up = [
            try await ScriptedWitness(ScriptedWitness.obliging(witnessSigner(1))),
            try await ScriptedWitness(ScriptedWitness.obliging(witnessSigner(2))),
        ]
        let all = try quorum([down] + up, "group g all w0 w1 w2\nquorum g\n")
        let round = try await round(all, 9)
        #expect(!round.isQuorumMet)
        #expect(round.reports[0].outcome == .failed(.unreachable))
        #expect(round.cosignatures.count == 2)
        for witness in up { await witness.close() }
    }

    @Test func aRepeatedRoundKeepsTheCosignaturesOfTheFailedOne() async throws {
        let first = try await ScriptedWitness(ScriptedWitness.obliging(witnessSigner(0)))
        let second = try await ScriptedWitness { _ in .answer(503, []) }
        let quorum = try quorum([first, second], "group g all w0 w1\nquorum g\n")
        let failed = try await round(quorum, 9)
        #expect(!failed.isQuorumMet)
        #expect(failed.reports[1].outcome == .refused(.unavailable(status: 503)))
        let again = try await round(quorum, 9, note: failed.cosigned(log.note(9)))
        guard case .present = again.reports[0].outcome else { return #expect(Bool(false)) }
        #expect(again.cosignatures.isEmpty)
        #expect(first.requestCount == 1 && second.requestCount == 2)
    }

    @Test func aConflictIsAnsweredWithAProofFromTheNamedSize() async throws {
        let (log, signer) = (log, try witnessSigner())
        let rules = WitnessRules(logs: try WitnessedLogs([.init(key: log.key)]), signer: signer)
        let known = try log.head(4)
        let script: ScriptedWitness.Script = { body in
            guard let request = try? AddCheckpointRequest(decoding: body) else { return .hangUp }
            do throws(WitnessRefusal) {
                let cosigned = try rules.judge(request, latest: known, at: currentTime())
                return .answer(200, WitnessAnswer.body(of: cosigned.cosignatures))
            } catch { return .answer(error.status, error.body) }
        }
        guard case .cosigned = try await outcome(script) else { return #expect(Bool(false)) }
        guard case .cosigned = try await outcome(size: 4, script) else { return #expect(Bool(false)) }
        #expect(try await outcome(size: 3, script) == .ahead(size: 4))
    }

    @Test func theSizeThatAWitnessNamesIsRemembered() async throws {
        let witness = try await ScriptedWitness { body in
            guard let request = try? AddCheckpointRequest(decoding: body), let signer = try? witnessSigner() else {
                return .hangUp
            }
            let known: UInt64 = request.checkpoint.head.size == 9 ? 0 : 9
            guard request.oldSize == known else { return .answer(409, Array("\(known)\n".utf8)) }
            return ScriptedWitness.obliging(signer)(body)
        }
        let quorum = try quorum([witness], "quorum w0\n")
        #expect(try await round(quorum, 9).isQuorumMet)
        #expect(try await round(quorum, 20).isQuorumMet)
        #expect(witness.requestCount == 2)
        #expect(witness.connectionCount == 1)
        await witness.close()
    }

    @Test func aConnectionThatTheWitnessClosedIsReplaced() async throws {
        let signer = try witnessSigner()
        let witness = try await ScriptedWitness { body in
            guard case .answer(let status, let body) = ScriptedWitness.obliging(signer)(body) else { return .hangUp }
            return .answerAndClose(status, body)
        }
        let quorum = try quorum([witness], "quorum w0\n")
        for size in 9...14 as ClosedRange<UInt64> { #expect(try await round(quorum, size).isQuorumMet) }
        await witness.close()
    }

    @Test func aWitnessThatNamesAnotherSizeEachTimeIsReported() async throws {
        #expect(
            try await outcome { body in
                let old = (try? AddCheckpointRequest(decoding: body))?.oldSize ?? 0
                return .answer(409, Array("\((old + 1) % 9)\n".utf8))
            } == .refused(.otherSize(latest: 4)))
        #expect(try await outcome { _ in .answer(409, Array("0\n".utf8)) } == .refused(.otherSize(latest: 0)))
    }

    @Test func aSizeFromWhichTheLogHasNoProofIsReported() async throws {
        let witness = try await ScriptedWitness { _ in .answer(409, Array("5\n".utf8)) }
        let quorum = try quorum([witness], "quorum w0\n")
        let round = await quorum.cosign(try log.note(9), head: try log.head(9)) { _ in nil }
        #expect(round.reports[0].outcome == .noProof(from: 5))
        await witness.close()
    }

    @Test(
        arguments: [
            (403, .signatureRefused), (404, .unknownLog), (422, .inconsistent), (409, .inconsistent),
            (429, .tooManyRequests), (500, .unavailable(status: 500)), (200, .malformed), (400, .unexpectedStatus(400)),
            (302, .unexpectedStatus(302)),
        ] as [(Int, WitnessAnswer)])
    func everyRefusalIsReported(status: Int, answer: WitnessAnswer) async throws {
        #expect(try await outcome { _ in .answer(status, Array("no\n".utf8)) } == .refused(answer))
    }

    @Test func aCosignatureOfAnotherKeyDoesNotCount() async throws {
        #expect(try await outcome(ScriptedWitness.obliging(witnessSigner(1))) == .unknownKey)
    }

    @Test func aCosignatureOnAnotherCheckpointDoesNotCount() async throws {
        let line = try witnessSigner().cosign(log.note(9, branch: 1).text, time: currentTime())
        #expect(try await outcome { _ in .answer(200, line.encoded) } == .invalidCosignature)
        let good = try witnessSigner().cosign(log.note(9).text, time: currentTime())
        #expect(try await outcome { _ in .answer(200, good.encoded + line.encoded) } == .invalidCosignature)
    }

    @Test func cosignaturesOfUnknownKeysAreIgnored() async throws {
        let text = try log.note(9).text
        let lines = try [1, 0, 2].map { try witnessSigner($0).cosign(text, time: currentTime()) }
        guard case .cosigned = try await outcome({ _ in .answer(200, WitnessAnswer.body(of: lines)) }) else {
            return #expect(Bool(false))
        }
    }

    @Test func aCosignatureWithATimeFarFromOursIsReported() async throws {
        for time in [1, currentTime() - 1000, currentTime() + 1000] {
            #expect(try await outcome(ScriptedWitness.obliging(witnessSigner(), at: time)) == .wrongTime(time))
        }
    }

    @Test func aSilentWitnessTimesOut() async throws {
        #expect(try await outcome(timeout: .milliseconds(50)) { _ in .keepSilent } == .failed(.timedOut))
    }

    @Test func aConnectionClosedBeforeTheAnswerIsReported() async throws {
        #expect(try await outcome { _ in .hangUp } == .failed(.closedEarly))
    }

    @Test func anAnswerThatIsTooLongIsReported() async throws {
        let long = [UInt8](repeating: 0x20, count: WitnessAnswer.maximumByteCount + 1)
        #expect(try await outcome { _ in .answer(200, long) } == .failed(.answerTooLong))
    }

    @Test func aWitnessWithoutAnAddressCountsOnlyIfItHasCosigned() async throws {
        let local = try witnessSigner(0)
        let policy = try policy(log, [(local.verifierKey, nil)], "quorum w0\n")
        let quorum = try WitnessQuorum(policy) { currentTime() }
        #expect(try await round(quorum, 9).reports.map(\.outcome) == [.notAddressed])
        let text = try log.note(9).text
        let note = try SignedNote(text: text, signatures: [log.signer.sign(text), local.cosign(text, time: 5)])
        let round = try await round(quorum, 9, note: note)
        #expect(round.isQuorumMet && round.reports.map(\.outcome) == [.present(time: 5)])
    }

    @Test func aPolicyWithoutAQuorumWaitsForNoWitness() async throws {
        let witness = try await ScriptedWitness { _ in .keepSilent }
        let round = try await round(quorum([witness], "quorum none\n", timeout: .seconds(600)), 9)
        #expect(round.isQuorumMet && round.cosignatures.isEmpty)
        await witness.close()
    }

    @Test func aSilentWitnessGetsABoundedNumberOfRequests() async throws {
        let silent = try await ScriptedWitness { _ in .keepSilent }
        let ready = try await ScriptedWitness(ScriptedWitness.obliging(witnessSigner(1)))
        let quorum = try quorum([silent, ready], "quorum w1\n", timeout: .seconds(600))
        for size in 1...8 as ClosedRange<UInt64> { #expect(try await round(quorum, size).isQuorumMet) }
        #expect(silent.requestCount <= 4)
        await silent.close()
        await ready.close()
    }

    @Test func configuration_refusesMalformedRoots() throws {
        var configuration = WitnessQuorum.Configuration()
        configuration.additionalRoots = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        let policy = try policy(log, [], "quorum none\n")
        #expect(throws: WitnessRootsError.malformed) { try WitnessQuorum(policy, configuration: configuration) { 1 } }
    }

    @Test func aSystemWithoutRootsIsNotBlamedOnTheOperatorsFile() throws {
        let policy = try policy(log, [(witnessSigner(0).verifierKey, localURL(1, "https"))], "quorum none\n")
        #expect(throws: WitnessRootsError.systemHasNone) {
            try WitnessQuorum.context(for: policy, [], make: { _ in throw NIOSSLError.failedToLoadCertificate })
        }
    }

    @Test func witnessesByHTTPNeedNoRootsOfTheSystem() throws {
        let keys = try (0...1).map { try witnessSigner(UInt8($0)).verifierKey }
        let policy = try policy(log, [(keys[0], localURL(1)), (keys[1], nil)], "quorum none\n")
        let tls = try WitnessQuorum.context(for: policy, [], make: { _ in throw NIOSSLError.failedToLoadCertificate })
        #expect(tls == nil)
    }

    @Test func anHTTPSAddressIsNeverAskedInTheClear() async throws {
        let witness = try await ScriptedWitness(ScriptedWitness.obliging(witnessSigner(0)))
        let url = Array("https".utf8) + witness.url.dropFirst("http".utf8.count)
        let connection = WitnessConnection(to: try #require(WitnessAddress(url)), tls: nil)
        await #expect(throws: WitnessFailure.notSecured) {
            try await connection.send([], until: .now() + .seconds(600))
        }
        #expect(witness.requestCount == 0)
        await witness.close()
    }
}
