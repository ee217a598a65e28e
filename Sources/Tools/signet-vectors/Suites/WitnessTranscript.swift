// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import TransparencyLog

/// A transcript of litewitness: a script that sets up one log, then requests with their answers.
struct WitnessTranscript {
    struct Exchange {
        var body: [UInt8] = []
        var status = 0
        /// Bytes that the answer contains.
        var word: [UInt8]?
        /// The whole answer.
        var wholeBody: [UInt8]?
    }

    let exchanges: [Exchange]
    /// The size that the witness knew at the end.
    let finalSize: UInt64
    private let entry: WitnessedLogs.Entry

    init(_ file: VectorFile) throws(VectorFileError) {
        let lines = String(decoding: try file.bytes(), as: UTF8.self).components(separatedBy: "\n")
        exchanges = Self.exchanges(lines)
        guard !exchanges.isEmpty else { throw .noCases(path: file.path) }
        guard let entry = try? Self.entry(lines) else { throw .malformed(path: file.path, reason: "no log is set up") }
        let prefix = "stdout \"size\":"
        let size = lines.first { $0.hasPrefix(prefix) }.flatMap { UInt64($0.dropFirst(prefix.count)) }
        guard let size else { throw .malformed(path: file.path, reason: "no size at the end") }
        self.entry = entry
        finalSize = size
    }

    /// A witness of the transcript's name that serves its log.
    func rules() throws(VectorFileError) -> WitnessRules {
        do {
            let name = try KeyName(Array("example.com/witness".utf8))
            return WitnessRules(
                logs: try WitnessedLogs([entry]),
                signer: try NoteSigner(name: name, algorithm: .cosignatureV1, seed: [UInt8](repeating: 1, count: 32)))
        } catch { throw .malformed(path: "", reason: "\(error)") }
    }

    /// A sigsum log is given by its key alone, another one by its origin and its verifier key; nil for neither.
    private static func entry(_ lines: [String]) throws -> WitnessedLogs.Entry? {
        if let words = lines.first(where: { $0.contains("add-sigsum-log -key=") })?.components(separatedBy: "-key="),
            let origin = lines.first(where: { $0.hasPrefix("sigsum.org/v1/tree/") })
        {
            let key = try Hex.decode(Array(words[1].utf8))
            let name = try KeyName(Array(origin.utf8))
            return .init(key: try VerifierKey(name: name, algorithm: .ed25519, publicKey: key))
        }
        let words = lines.first { $0.contains("add-key -origin '") }?.components(separatedBy: " -key ")
        guard let words, words.count == 2 else { return nil }
        let origin = words[0].components(separatedBy: "'")[1]
        return .init(key: try VerifierKey(decoding: Array(words[1].utf8)), origin: Array(origin.utf8))
    }

    private static func exchanges(_ lines: [String]) -> [Exchange] {
        var exchanges: [Exchange] = []
        var body: [UInt8]?
        for line in lines {
            if line.hasPrefix("POST ") { exchanges.append(Exchange()) }
            guard let last = exchanges.indices.last else { continue }
            if line == "```" {
                if let body { exchanges[last].body = body }
                body = body == nil ? [] : nil
            } else if body != nil {
                body? += Array((line + "\n").utf8)
            } else {
                exchanges[last].note(line)
            }
        }
        return exchanges
    }
}

extension WitnessTranscript.Exchange {
    /// Takes a line about the answer.
    fileprivate mutating func note(_ line: String) {
        if line.hasPrefix("HTTP ") { status = Int(line.dropFirst(5)) ?? 0 }
        let parts = line.components(separatedBy: "\"")
        guard parts.count == 3 else { return }
        if parts[0] == "body contains " { word = Array(parts[1].utf8) }
        if parts[0] == "body == " { wholeBody = Array(parts[1].replacingOccurrences(of: "\\n", with: "\n").utf8) }
    }
}
