// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import Testing
import TransparencyLog

/// Requests and answers of another witness, litewitness, in the order in which it got them.
@Suite(
    "witness transcripts of other software", .enabled(if: OutsideVectors.present, "the outside vectors are not here"))
struct WitnessTranscriptTests {
    /// What tlog-witness v1.0.0 answers otherwise than the witness of the transcripts did: 404, not 403, to an origin
    /// that it does not know.
    static let changedSince = ["litewitness.txt": [2: 404]]

    @Test(arguments: ["litewitness.txt": 9, "bastion.txt": 1, "sumdb.txt": 1])
    func everyRequestGetsItsAnswer(file: String, count: Int) throws {
        let transcript = try Transcript(OutsideVectors.bytes("witness/" + file))
        #expect(transcript.exchanges.count == count)
        let rules = WitnessRules(logs: transcript.logs, signer: try transcript.signer())
        var latest: [[UInt8]: TreeHead] = [:]
        for (number, exchange) in transcript.exchanges.enumerated() {
            let expected = Self.changedSince[file]?[number] ?? exchange.status
            do throws(WitnessRefusal) {
                let request = try AddCheckpointRequest(received: exchange.body)
                #expect(request.encoded == exchange.body)
                let known = latest[request.checkpoint.origin]
                let cosigned = try rules.judge(request, latest: known, at: 1)
                #expect(expected == 200, "request \(number)")
                let answer = WitnessAnswer.body(of: cosigned.cosignatures)
                #expect(String(decoding: answer, as: UTF8.self).contains(exchange.contained ?? "?"))
                latest[cosigned.origin] = cosigned.head
            } catch {
                #expect(error.status == expected, "request \(number)")
                if let body = exchange.wholeBody { #expect(error.body == body) }
            }
        }
        #expect(latest.values.map(\.size) == [transcript.finalSize])
    }
}

/// What these tests need of a transcript.
struct Transcript {
    struct Exchange {
        var body: [UInt8] = []
        var status = 0
        var contained: String?
        var wholeBody: [UInt8]?
    }

    let logs: WitnessedLogs
    let exchanges: [Exchange]
    let finalSize: UInt64

    init(_ text: [UInt8]) throws {
        let lines = String(decoding: text, as: UTF8.self).components(separatedBy: "\n")
        logs = try Self.logs(lines)
        exchanges = Self.exchanges(lines)
        let size = try #require(lines.first { $0.hasPrefix("stdout \"size\":") })
        finalSize = try #require(UInt64(size.dropFirst("stdout \"size\":".count)))
    }

    func signer() throws -> NoteSigner {
        try NoteSigner(
            name: keyName("example.com/witness"), algorithm: .cosignatureV1, seed: Array(repeating: 9, count: 32))
    }

    /// A sigsum log is given by its key alone, another one by its origin and a vkey.
    private static func logs(_ lines: [String]) throws -> WitnessedLogs {
        if let line = lines.first(where: { $0.contains("add-sigsum-log -key=") }) {
            let origin = try #require(lines.first { $0.hasPrefix("sigsum.org/v1/tree/") })
            let key = try Hex.decode(Array(line.components(separatedBy: "-key=")[1].utf8))
            return try WitnessedLogs([
                .init(key: VerifierKey(name: keyName(origin), algorithm: .ed25519, publicKey: key))
            ])
        }
        let words = try #require(lines.first { $0.contains("add-key -origin") }).components(separatedBy: " -key ")
        let origin = words[0].components(separatedBy: "'")[1]
        return try WitnessedLogs([.init(key: VerifierKey(decoding: Array(words[1].utf8)), origin: Array(origin.utf8))])
    }

    private static func exchanges(_ lines: [String]) -> [Exchange] {
        var exchanges: [Exchange] = []
        var body: [String]?
        for line in lines {
            if line.hasPrefix("POST ") { exchanges.append(Exchange()) }
            guard let last = exchanges.indices.last else { continue }
            if line == "```" {
                if let body { exchanges[last].body = Array(body.map { $0 + "\n" }.joined().utf8) }
                body = body == nil ? [] : nil
            } else if body != nil {
                body?.append(line)
            } else if line.hasPrefix("HTTP ") {
                exchanges[last].status = Int(line.dropFirst(5)) ?? 0
            } else if line.hasPrefix("body contains \"") {
                exchanges[last].contained = line.components(separatedBy: "\"")[1]
            } else if line.hasPrefix("body == \"") {
                let text = line.components(separatedBy: "\"")[1].replacingOccurrences(of: "\\n", with: "\n")
                exchanges[last].wholeBody = Array(text.utf8)
            }
        }
        return exchanges
    }
}
