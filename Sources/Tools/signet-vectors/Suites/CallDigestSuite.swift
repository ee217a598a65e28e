// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CallKeys
import CallSignalling
import Foundation
import SFrame

/// Digests of a call's frames: which are accepted, and what a receiver concludes about the frames that it opened.
struct CallDigestSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "call-digest",
        abstract: "What a call's members sign of their frames: which digests are accepted, and what is forged.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let cases: [CallDigestVector] = try VectorFile(path).json()
        guard !cases.isEmpty else { throw .noCases(path: path) }
        for test in cases {
            let found = test.found()
            report.add(test.name, failure: found == test.verdict ? nil : "\(found) (\(test.why))")
        }
    }
}

/// What happens to a receiver, and what must become of it.
struct CallDigestVector: Codable {
    /// One of the three.
    struct Event: Codable {
        /// A frame was opened, of this reign and generation; hexadecimal.
        var frame: String?
        var term: UInt32?
        var generation: UInt32?
        /// The receiver has made a digest with this mark, in hexadecimal.
        var mark: String?
        /// A digest of the sender's came; hexadecimal.
        var signal: String?
    }

    struct Verdict: Codable, Equatable {
        /// Why the first signal that is refused is; nil if none is.
        var refused: String?
        /// Which of the frames are forged, by their place among them, and how many no digest has covered.
        var forged: [Int]
        var unconfirmed: Int
        /// Whether the sender signed two frames with one number.
        var contradicted: Bool
    }

    let name: String
    let why: String
    /// Hexadecimal.
    let call: String
    let receiver: String
    let events: [Event]
    let verdict: Verdict

    func found() -> Verdict {
        var (heard, names, marks) = (HeardFrames(), [FrameName](), [UInt64]())
        var verdict = Verdict(refused: nil, forged: [], unconfirmed: 0, contradicted: false)
        for event in events {
            if let mark = event.mark.flatMap({ UInt64($0, radix: 16) }) { marks.append(mark) }
            if let frame = Self.bytes(event.frame), let name = Self.name(frame, event) {
                names.append(name)
                let hash = FrameDigest.hash(of: frame)
                if heard.open(name, hash, made: UInt64(marks.count), at: 0) { verdict.forged.append(names.count - 1) }
            }
            guard let signal = Self.bytes(event.signal) else { continue }
            do {
                let digest = try self.digest(signal)
                let answered = marks.lastIndex { digest.heard.contains($0) }.map { UInt64($0) }
                let foreign = heard.compare(digest, answered: answered)
                verdict.forged += foreign.compactMap { names.firstIndex(of: $0) }
            } catch { return Verdict(refused: Self.name(error), forged: [], unconfirmed: 0, contradicted: false) }
        }
        verdict.forged.sort()
        verdict.unconfirmed = heard.giveUp(before: .max)
        verdict.contradicted = heard.isContradicted
        return verdict
    }

    private func digest(_ bytes: [UInt8]) throws -> FrameDigest {
        guard let device = Self.bytes(receiver).flatMap({ CallDevice($0) }),
            let call = Self.bytes(call).flatMap({ CallID($0) })
        else { throw Fault.notACase }
        let signal = try Signal(decoding: bytes)
        guard case .digest(let digest) = try signal.verify(for: device, in: call).content.body else {
            throw Fault.noDigest
        }
        return digest
    }

    private enum Fault: Error {
        case notACase
        case noDigest
    }

    /// The refusal without what it says beside its name.
    private static func name(_ error: any Error) -> String {
        String("\(error)".prefix { $0 != "(" })
    }

    private static func name(_ frame: [UInt8], _ event: Event) -> FrameName? {
        guard let header = try? FrameHeader(startOf: frame), let keyID = CallKeyID(rawValue: header.keyID),
            let term = event.term, let generation = event.generation
        else { return nil }
        return FrameName(keyID, header.counter, term: term, generation: generation)
    }

    private static func bytes(_ text: String?) -> [UInt8]? {
        text.flatMap { try? JSONDecoder().decode(HexField.self, from: Data("\"\($0)\"".utf8)).bytes }
    }
}
