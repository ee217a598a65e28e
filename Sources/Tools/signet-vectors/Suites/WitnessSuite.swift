// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import TransparencyLog

/// What a witness was asked and what it answered, in order, as litewitness's tests write it down.
struct WitnessSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "witness",
        abstract: "Transcripts of a C2SP witness, in the text form of litewitness's tests.",
        discussion: """
            The transcripts are older than tlog-witness v1.0.0. Where a witness of today answers with another status, \
            the new one is demanded and a note says so: 404, not 403, for an origin that it does not know.
            """)

    @Argument(help: "A transcript, or a folder of them.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let file = VectorFile(path)
        guard file.isFolder else { return try run(file, &report) }
        let names = file.contents.filter { $0.hasSuffix(".txt") }
        guard !names.isEmpty else { throw .noCases(path: path) }
        for name in names { try run(file.appending(name), &report) }
    }

    private func run(_ file: VectorFile, _ report: inout VectorReport) throws(VectorFileError) {
        let transcript = try WitnessTranscript(file)
        let rules = try transcript.rules()
        var latest: [[UInt8]: TreeHead] = [:]
        for (number, exchange) in transcript.exchanges.enumerated() {
            let name = "\(file.path) request \(number + 1)"
            let answer: (status: Int, body: [UInt8], changed: Int?)
            do throws(WitnessRefusal) {
                let request = try AddCheckpointRequest(received: exchange.body)
                let cosigned = try rules.judge(request, latest: latest[request.checkpoint.origin], at: 1)
                latest[cosigned.origin] = cosigned.head
                answer = (200, WitnessAnswer.body(of: cosigned.cosignatures), nil)
            } catch {
                answer = (error.status, error.body, error == .unknownOrigin ? 403 : nil)
            }
            if answer.changed == exchange.status {
                report.remark("\(name): \(answer.status), in the transcript \(exchange.status)")
            }
            report.add(name, failure: exchange.failure(of: answer.status, answer.body, insteadOf: answer.changed))
        }
        let isFinal = latest.values.map(\.size) == [transcript.finalSize]
        report.add("\(file.path) size at the end", failure: isFinal ? nil : "another size")
    }
}

extension WitnessTranscript.Exchange {
    /// What is wrong with an answer; nil for nothing. `earlier` is the status that it replaces.
    fileprivate func failure(of status: Int, _ body: [UInt8], insteadOf earlier: Int?) -> String? {
        guard status == self.status || earlier == self.status else { return "\(status) instead of \(self.status)" }
        if let wholeBody, body != wholeBody { return "another body" }
        if status == 200, let word, !body.contains(word) { return "no line of the witness" }
        return nil
    }
}

extension [UInt8] {
    fileprivate func contains(_ word: [UInt8]) -> Bool { indices.contains { self[$0...].starts(with: word) } }
}
