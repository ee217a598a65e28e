// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Testing
import TransparencyLog

struct AddCheckpointRequestTests {
    let log: SmallLog
    let good: [UInt8]

    init() throws {
        log = try SmallLog()
        good = try AddCheckpointRequest(
            oldSize: 6, consistency: log.tree.consistencyProof(from: 6, to: 11), note: log.note(size: 11)
        ).encoded
    }

    @Test func aRequestPrintsWhatItWasReadFrom() throws {
        for old in 0...11 {
            let request = try AddCheckpointRequest(
                oldSize: UInt64(old), consistency: log.tree.consistencyProof(from: UInt64(old), to: 11),
                note: log.note(size: 11, times: [3]))
            #expect(try AddCheckpointRequest(decoding: request.encoded) == request)
        }
        #expect(try AddCheckpointRequest(decoding: good).encoded == good)
        #expect(good.starts(with: Array("old 6\n".utf8)))
    }

    @Test func eachMalformedRequestHasItsReason() throws {
        let hash = String(decoding: Base64.encode(TreeHash.emptyTree.bytes), as: UTF8.self)
        let many = "old 6\n" + String(repeating: hash + "\n", count: 64)
        let cases: [([UInt8], AddCheckpointError)] = [
            ([], .oldSizeMissing), (Array("old ".utf8), .truncated), (Array("old 6\n".utf8), .truncated),
            (good.replacing(first: "old 6", with: "Old 6"), .oldSizeMissing),
            (good.replacing(first: "old 6", with: "old6"), .oldSizeMissing),
            (good.replacing(first: "old 6", with: "old "), .oldSize(.invalidLength(0))),
            (good.replacing(first: "old 6", with: "old 06"), .oldSize(.notMinimal)),
            (good.replacing(first: "old 6", with: "old +6"), .oldSize(.invalidCharacter(offset: 0))),
            (good.replacing(first: "old 6", with: "old 6\r"), .oldSize(.invalidCharacter(offset: 1))),
            (good.replacing(first: "old 6", with: "old 18446744073709551616"), .oldSize(.overflow)),
            (good.replacing(first: "old 6\n", with: "old 6\nAAAA\n"), .malformedHash(line: 0)),
            (good.replacing(first: "old 6\n", with: "old 6\n\(hash)\n*\n"), .malformedHash(line: 1)),
            (good.replacing(first: "old 6\n", with: many), .tooManyHashes),
            (good.replacing(first: "\n\nlog", with: "\nlog"), .malformedHash(line: 4)),
            (good.replacing(first: "\n11\n", with: "\n011\n"), .checkpoint(.size(.notMinimal))),
            (good.replacing(first: "\nlog.example/one\n", with: "\n\n"), .checkpoint(.origin(.keyNameEmpty))),
            (Array(good.dropLast()), .note(.malformedSignatureLine(line: 0))),
            (good + [0x0A], .note(.signaturesMissing)),
        ]
        for (body, reason) in cases {
            #expect(throws: reason, "\(String(decoding: body, as: UTF8.self))") {
                try AddCheckpointRequest(decoding: body)
            }
        }
        let long = [UInt8](repeating: 0x0A, count: AddCheckpointRequest.maximumByteCount + 1)
        #expect(throws: AddCheckpointError.tooLong(byteCount: long.count)) {
            try AddCheckpointRequest(decoding: long)
        }
    }

    @Test func aRequestIsNotMadeOfWhatItCannotHold() throws {
        let many = ConsistencyProof(hashes: Array(repeating: .emptyTree, count: 64))
        #expect(throws: AddCheckpointError.tooManyHashes) {
            try AddCheckpointRequest(oldSize: 1, consistency: many, note: log.note(size: 3))
        }
        let text = Array("no checkpoint\n".utf8)
        let note = try SignedNote(text: text, signatures: [log.log.sign(text)])
        #expect(throws: AddCheckpointError.checkpoint(.lineMissing)) {
            try AddCheckpointRequest(oldSize: 0, consistency: .init(hashes: []), note: note)
        }
    }

    @Test func damagedRequestsNeverTrapAndPrintWhatTheyWereReadFrom() {
        var mutator = Mutator(seed: 7)
        for _ in 0..<5000 {
            let body = mutator.mutate(good)
            if let request = try? AddCheckpointRequest(decoding: body) { #expect(request.encoded == body) }
        }
    }
}

struct WitnessAnswerTests {
    @Test func signatureLinesAreRead() throws {
        let log = try SmallLog()
        let text = try log.text(size: 4)
        let lines = try log.witnesses.map { try $0.cosign(text, time: 8) }
        #expect(WitnessAnswer(status: 200, body: WitnessAnswer.body(of: lines)) == .cosignatures(lines))
        #expect(WitnessAnswer(status: 200, body: WitnessAnswer.body(of: [lines[0]])) == .cosignatures([lines[0]]))
        for body in [[], Array("\n".utf8), Array("ok\n".utf8), Array(lines[0].encoded.dropLast())] {
            #expect(WitnessAnswer(status: 200, body: body) == .malformed)
        }
    }

    @Test func aConflictSaysWhatItsBodySays() {
        #expect(WitnessAnswer(status: 409, body: Array("5\n".utf8)) == .otherSize(latest: 5))
        #expect(WitnessAnswer(status: 409, body: Array("0\n".utf8)) == .otherSize(latest: 0))
        for body in ["", "\n", "5", "05\n", "5\n\n", "5\r\n", "-1\n", "conflict\n"] {
            #expect(WitnessAnswer(status: 409, body: Array(body.utf8)) == .inconsistent)
        }
    }

    @Test(
        arguments: [
            (403, .signatureRefused), (404, .unknownLog), (422, .inconsistent), (429, .tooManyRequests),
            (500, .unavailable(status: 500)), (503, .unavailable(status: 503)), (400, .unexpectedStatus(400)),
            (204, .unexpectedStatus(204)), (302, .unexpectedStatus(302)),
        ] as [(Int, WitnessAnswer)])
    func everyOtherStatusHasItsCase(status: Int, answer: WitnessAnswer) {
        #expect(WitnessAnswer(status: status, body: Array("5\n".utf8)) == answer)
    }

    @Test func aLogReadsEveryRefusalOfAWitness() {
        let cases: [(WitnessRefusal, WitnessAnswer)] = [
            (.malformed(.truncated), .unexpectedStatus(400)), (.unknownOrigin, .unknownLog),
            (.logSignatureMissing, .signatureRefused), (.otherSize(latest: 12), .otherSize(latest: 12)),
            (.oldSizeAboveCheckpoint(oldSize: 2, size: 1), .unexpectedStatus(400)),
            (.emptyTreeRoot, .inconsistent), (.proofFromEmptyTree, .inconsistent),
            (.inconsistent(.oldRootMismatch), .inconsistent),
            (.cannotSign(.signingFailed), .unavailable(status: 500)),
        ]
        for (refusal, answer) in cases {
            #expect(WitnessAnswer(status: refusal.status, body: refusal.body) == answer)
        }
    }
}

struct WitnessedLogsTests {
    private static let key = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
    private static let sumdb = """
        # the list of one witness
        logs/v0

          vkey \(key)
        origin go.sum database tree
        qpd 86400
         contact security@example.org (weekdays)

        vkey \(key)

        """

    private func read(_ text: String) throws -> WitnessedLogs { try WitnessedLogs(decoding: Array(text.utf8)) }

    @Test func aListOfAWitnessNetworkIsRead() throws {
        let logs = try read(Self.sumdb)
        let key = try VerifierKey(decoding: Array(Self.key.utf8))
        #expect(
            logs.entries == [
                .init(
                    key: key, origin: Array("go.sum database tree".utf8), requestsPerDay: 86_400,
                    contact: Array("security@example.org (weekdays)".utf8)),
                .init(key: key),
            ])
        #expect(logs.keys(ofOrigin: Array("go.sum database tree".utf8)) == [key])
        #expect(logs.keys(ofOrigin: Array("sum.golang.org".utf8)) == [key])
        #expect(logs.keys(ofOrigin: []) == nil)
        #expect(try WitnessedLogs(decoding: logs.encoded) == logs)
        #expect(try WitnessedLogs(decoding: WitnessedLogs([]).encoded).entries.isEmpty)
    }

    @Test func theRateOfALogIsTheHighestOfItsEntries() throws {
        let one = try signer("log.example/one", .ed25519, seed: 1).verifierKey
        let two = try signer("log.example/one", .ed25519, seed: 2).verifierKey
        func rate(_ first: UInt64?, _ second: UInt64?) throws -> UInt64? {
            try WitnessedLogs([.init(key: one, requestsPerDay: first), .init(key: two, requestsPerDay: second)])
                .requestsPerDay(ofOrigin: one.name.bytes)
        }
        #expect(try rate(3, 5) == 5)
        #expect(try rate(3, nil) == nil)
        #expect(try rate(nil, 3) == nil)
    }

    @Test func eachMalformedListHasItsReason() throws {
        let cases: [(String, WitnessedLogsError)] = [
            ("", .lineNotTerminated), ("logs/v0", .lineNotTerminated), ("\n", .unknownHeader),
            ("logs/v1\n", .unknownHeader), ("vkey \(Self.key)\nlogs/v0\n", .unknownHeader),
            ("logs/v0\nlogs/v0\n", .line(2, .keyMissing)), ("logs/v0\norigin a\n", .line(2, .keyMissing)),
            ("logs/v0\nvkey\n", .line(2, .key(.malformed))), ("logs/v0\nvkey a+b\n", .line(2, .key(.malformed))),
            ("logs/v0\nvkey \(Self.key)\nqpd 0\n", .line(2, .malformedRate)),
            ("logs/v0\nvkey \(Self.key)\nqpd 1.5\n", .line(3, .malformedRate)),
            ("logs/v0\nvkey \(Self.key)\nqpd 1\nqpd 2\n", .line(4, .secondLine)),
            ("logs/v0\nvkey \(Self.key)\norigin\n", .line(2, .malformedText)),
            ("logs/v0\nvkey \(Self.key)\ncontact a\tb\n", .line(2, .malformedText)),
            ("logs/v0\nvkey \(Self.key)\nbastion x\n", .line(3, .unknownKeyword)),
            ("logs/v0\nvkey \(Self.key)\n#\nvkey \(Self.key)\n", .line(4, .duplicateKey)),
        ]
        for (text, reason) in cases {
            #expect(throws: reason, "\(text)") { try read(text) }
        }
        let witness = try signer("w.example", .cosignatureV1, seed: 3).verifierKey
        #expect(throws: WitnessedLogsError.line(1, .keyOfOtherRole)) { try WitnessedLogs([.init(key: witness)]) }
        let long = [UInt8](repeating: 0x0A, count: WitnessedLogs.maximumByteCount + 1)
        #expect(throws: WitnessedLogsError.tooLong(byteCount: long.count)) { try WitnessedLogs(decoding: long) }
    }

    @Test func damagedListsNeverTrapAndAreReadAgainAsPrinted() throws {
        var mutator = Mutator(seed: 11)
        for _ in 0..<3000 {
            guard let logs = try? WitnessedLogs(decoding: mutator.mutate(Array(Self.sumdb.utf8))) else { continue }
            #expect(try WitnessedLogs(decoding: logs.encoded) == logs)
        }
    }

    /// Checked with `printf 'go.sum database tree' | sha256sum`.
    @Test func monitorsFindACheckpointByTheHashOfItsOrigin() {
        #expect(
            String(decoding: WitnessedLogs.monitoringPath(ofOrigin: Array("go.sum database tree".utf8)), as: UTF8.self)
                == "46613be2987d5d316f5ad065e4aa2eee26ccdd3de17a3735cd0da18156a22bdd/checkpoint")
    }
}
