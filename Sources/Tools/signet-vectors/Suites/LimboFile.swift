// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyPinning
import PinnedChains

/// A path that x509-limbo says must be accepted or refused.
struct LimboCase: Sendable {
    let id: String
    let mustPass: Bool
    /// Seconds since 1970; nil for now.
    let time: UInt64?
    let host: String
    let anchors: [[UInt8]]
    /// The server's certificate, then the others.
    let presented: [[UInt8]]

    /// Why our verifier refuses it; nil if it does not.
    func refusal() async -> String? {
        guard let host = try? ServerName(host.utf8) else { return "host" }
        do {
            let rule = try PinRule(for: .exactly(host), mode: .trustOnly, pins: [])
            let policy = try PinPolicy(version: 1, environment: .staging, rules: [rule])
            let verifier = ChainVerifier(policy: policy, anchors: TrustAnchors(readable: anchors))
            let now = time ?? UInt64(Date().timeIntervalSince1970)
            _ = try await verifier.verify(presented, for: host, at: now)
            return nil
        } catch let refusal as ChainRefusal {
            return "\(refusal.reason)"
        } catch { return "\(error)" }
    }
}

/// A file of cases: a line of format, `certificates` and how many, one of them in base64 on each line, `cases` and how many,
/// and on each line of the rest: `accept` or `refuse`, time or `-`, host, anchors, intermediates and server as places
/// of certificates from 0, and the case's name.
struct LimboFile {
    private static let format = "signet-limbo/v1"
    let cases: [LimboCase]

    init(_ path: String) throws(VectorFileError) {
        let lines = String(decoding: try VectorFile(path).bytes(), as: UTF8.self).split(separator: "\n")
        func fault(_ line: Int) -> VectorFileError { .malformed(path: path, reason: "line \(line + 1)") }
        func count(_ name: String, at line: Int) throws(VectorFileError) -> Int {
            guard line < lines.count, lines[line].hasPrefix(name + " "),
                let count = Int(lines[line].dropFirst(name.count + 1)), count >= 0, count < lines.count - line
            else { throw fault(line) }
            return count
        }
        guard lines.first.map(String.init) == Self.format else { throw fault(0) }
        let certificateCount = try count("certificates", at: 1)
        var certificates: [[UInt8]] = []
        for line in 2..<(2 + certificateCount) {
            guard let der = try? Base64.decode(Array(lines[line].utf8)) else { throw fault(line) }
            certificates.append(der)
        }
        let first = 3 + certificateCount
        guard try first + count("cases", at: first - 1) == lines.count else { throw fault(first - 1) }
        var cases: [LimboCase] = []
        for line in first..<lines.count {
            guard let test = LimboCase(lines[line], certificates) else { throw fault(line) }
            cases.append(test)
        }
        self.cases = cases
    }
}

extension LimboCase {
    init?(_ line: Substring, _ certificates: [[UInt8]]) {
        func list(_ text: Substring) -> [[UInt8]]? {
            if text == "-" { return [] }
            let places = text.split(separator: ",").map { Int($0) ?? -1 }
            return places.allSatisfy(certificates.indices.contains) ? places.map { certificates[$0] } : nil
        }
        let parts = line.split(separator: " ")
        guard parts.count == 7, ["accept", "refuse"].contains(parts[0]), parts[1] == "-" || UInt64(parts[1]) != nil,
            let anchors = list(parts[3]), let others = list(parts[4]), let server = list(parts[5]), server.count == 1
        else { return nil }
        self.init(
            id: String(parts[6]), mustPass: parts[0] == "accept", time: UInt64(parts[1]), host: String(parts[2]),
            anchors: anchors, presented: server + others)
    }
}
