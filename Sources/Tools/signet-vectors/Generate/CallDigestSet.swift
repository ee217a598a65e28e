// SPDX-License-Identifier: Apache-2.0

import CallKeys
import CallSignalling
import CanonicalCoding
import Crypto
import Foundation
import SFrame

/// The published digests: a sender whose key is 32 bytes 01, a receiver's of 02, a call of sixteen 09.
enum CallDigestSet {
    typealias Event = CallDigestVector.Event
    typealias Verdict = CallDigestVector.Verdict

    static func file() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(cases()) + Data("\n".utf8)
    }

    static func cases() throws -> [CallDigestVector] {
        try good() + faults() + envelopes() + judgements()
    }

    // MARK: What stands in a digest

    /// One epoch, as it is written.
    private struct Part {
        var term: UInt32 = 65_536
        var generation: UInt32 = 7
        var step: UInt8 = 2
        var index: UInt16 = 3
        var streams: [(context: UInt8, count: UInt64, hashes: [UInt64])] = [(0, 2, [10, 11])]
    }

    private static func body(_ parts: [Part], heard: [UInt64] = [], kind: UInt8 = 15) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(kind)
        writer.write(0xABCD as UInt64)
        writer.write(UInt8(truncatingIfNeeded: heard.count))
        for mark in heard { writer.write(mark) }
        writer.write(UInt8(truncatingIfNeeded: parts.count))
        for part in parts {
            writer.write(part.term)
            writer.write(part.generation)
            writer.write(part.step)
            writer.write(part.index)
            writer.write(UInt8(truncatingIfNeeded: part.streams.count))
            for stream in part.streams {
                writer.write(stream.context)
                writer.write(stream.count)
                writer.write(UInt8(truncatingIfNeeded: stream.hashes.count))
                for hash in stream.hashes { writer.write(hash) }
            }
        }
        return writer.bytes
    }

    private static func good() throws -> [CallDigestVector] {
        let full = Part(streams: [(0, 1 << 32, (0..<100).map { $0 })])
        return [
            try test("two frames", "two frames of sound", body([Part()])),
            try test("nobody spoke", "nothing was sent under the epoch", body([Part(streams: [])])),
            try test("no hashes", "a context of which nothing was sent lately", body([Part(streams: [(1, 900, [])])])),
            try test(
                "four contexts", "all contexts, in order", body([Part(streams: (0..<4).map { ($0, 1, [UInt64($0)]) })])),
            try test(
                "three epochs", "the epoch in use and two that were left",
                body([Part(), Part(step: 1), Part(generation: 6, step: 15)])),
            try test("full", "112 marks and hashes, numbers up to the last", body([full], heard: Array(1...12))),
            try test("for one", "sent to the receiver alone", body([Part()]), recipient: receiver),
        ]
    }

    private static func faults() throws -> [CallDigestVector] {
        let many = Part(streams: [(0, 200, (0..<113).map { $0 })])
        let fall: [(context: UInt8, count: UInt64, hashes: [UInt64])] = [(1, 1, [1]), (0, 1, [2])]
        let parts: [(String, String, [Part], [UInt64])] = [
            ("no epoch", "no epoch is named", [], []),
            ("four epochs", "four epochs are named", (0..<4).map { Part(step: 3 - $0) }, []),
            ("epochs rise", "the epoch in use stands last", [Part(), Part(step: 3)], []),
            ("epoch twice", "an epoch stands there twice", [Part(), Part()], []),
            ("context four", "there is no context 4", [Part(streams: [(4, 1, [1])])], []),
            ("contexts fall", "a later context stands first", [Part(streams: fall)], []),
            ("context twice", "a context stands there twice", [Part(streams: [(0, 1, [1]), (0, 2, [2])])], []),
            ("five contexts", "five contexts are named", [Part(streams: (0..<5).map { ($0, 1, []) })], []),
            ("no frames", "a context of which nothing was sent is named", [Part(streams: [(0, 0, [])])], []),
            ("more hashes", "two hashes of one frame", [Part(streams: [(0, 1, [1, 2])])], []),
            ("beyond any", "more frames than a key seals", [Part(streams: [(0, 1 << 32 + 1, [1])])], []),
            ("marks fall", "marks are out of order", [Part()], [2, 1]),
            ("mark twice", "a mark stands there twice", [Part()], [2, 2]),
            ("too many hashes", "113 hashes", [many], []),
            ("too many marks", "111 marks beside two hashes and one", [Part()], Array(1...111)),
        ]
        var cases = try parts.map { try test($0.0, $0.1, body($0.2, heard: $0.3), refused: "invalidDigest") }
        cases += [
            try test("no reign", "a reign of zero", body([Part(term: 0)]), refused: "invalidEpoch"),
            try test("no generation", "a generation of zero", body([Part(generation: 0)]), refused: "invalidEpoch"),
            try test("step sixteen", "a step beyond the last", body([Part(step: 16)]), refused: "invalidEpoch"),
        ]
        return cases
    }

    private static func envelopes() throws -> [CallDigestVector] {
        let good = body([Part()])
        var damaged = try signal(good)
        damaged[damaged.count - 1] ^= 1
        let another = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 3, count: 32))
        return [
            try test("cut", "the last hash lacks its last byte", Array(good.dropLast()), refused: "malformed"),
            try test("more", "a byte is left over", good + [0], refused: "malformed"),
            try test(
                "another kind", "a body of a kind that there is not", body([Part()], kind: 16), refused: "unknownBody"),
            try test("another body", "a sign of leaving, and no digest", [2], refused: "noDigest"),
            try test("another call", "signed for another call", good, call: other, refused: "anotherCall"),
            try test(
                "another recipient", "signed for another device", good,
                recipient: Array(another.publicKey.rawRepresentation),
                refused: "anotherRecipient"),
            vector(
                "signature", "a bit of the signature is another", [Event(signal: hex(damaged))],
                Verdict(refused: "invalidSignature", forged: [], unconfirmed: 0, contradicted: false)),
            vector(
                "another signer", "another member signed it",
                [Event(signal: hex(try signal(good, by: another, naming: sender)))],
                Verdict(refused: "invalidSignature", forged: [], unconfirmed: 0, contradicted: false)),
        ]
    }

    // MARK: What follows from it

    private static func judgements() throws -> [CallDigestVector] {
        let (one, two) = (frame(1, [1]), frame(1, [2]))
        func opened(_ frame: [UInt8], generation: UInt32 = 7, term: UInt32 = 65_536) -> Event {
            Event(frame: hex(frame), term: term, generation: generation)
        }
        func said(_ parts: [Part], heard: [UInt64] = []) throws -> Event {
            Event(signal: hex(try signal(body(parts, heard: heard))))
        }
        let own = Part(streams: [(0, 2, [0, FrameDigest.hash(of: one)])])
        let empty = Part(streams: [])
        let (mark, early) = (Event(mark: "00000000000000aa"), Event(mark: "00000000000000a9"))
        func judged(
            _ name: String, _ why: String, _ events: [Event], forged: [Int] = [], unconfirmed: Int = 0
        ) -> CallDigestVector {
            vector(
                name, why, events, Verdict(refused: nil, forged: forged, unconfirmed: unconfirmed, contradicted: false))
        }
        return [
            judged("own", "the hash of the frame", [opened(one), try said([own])]),
            judged("own, late", "the frame comes after its digest", [try said([own]), opened(one)]),
            judged("in its place", "another frame with the number", [opened(two), try said([own])], forged: [0]),
            judged(
                "in its place, late", "another frame with the number, after the digest",
                [try said([own]), opened(two)], forged: [0]),
            judged(
                "beyond", "signed after the frame was opened: nothing was sent",
                [opened(one), mark, try said([empty], heard: [0xAA])], forged: [0]),
            judged(
                "beyond, unanswered", "nothing shows when it was signed", [opened(one), mark, try said([empty])],
                unconfirmed: 1),
            judged(
                "beyond, answered before", "the mark is older than the frame",
                [early, opened(one), try said([empty], heard: [0xA9])], unconfirmed: 1),
            judged(
                "another context", "the sender sent sound, and no picture",
                [opened(frame(1, [1], context: .camera)), mark, try said([own], heard: [0xAA])], forged: [0]),
            judged(
                "key that was left", "the sender had sent one frame when it left the key",
                [try said([Part(generation: 8, step: 0), Part(streams: [(0, 1, [5])])]), opened(one)], forged: [0]),
            judged(
                "key of later", "the sender does not send under the key yet",
                [opened(frame(1, [1], generation: 8), generation: 8), mark, try said([own], heard: [0xAA])], forged: [0]
            ),
            judged(
                "another reign", "of another reign's keys nothing is said",
                [opened(one, term: 65_537), mark, try said([empty], heard: [0xAA])], unconfirmed: 1),
            judged(
                "another index", "of frames under another index nothing is said",
                [opened(frame(1, [1], index: 4)), mark, try said([empty], heard: [0xAA])], unconfirmed: 1),
            judged(
                "too old", "the sender sent a frame of the number, and its hash is not there",
                [opened(one), mark, try said([Part(streams: [(0, 3, [5])])], heard: [0xAA])], unconfirmed: 1),
            vector(
                "two in one", "two hashes of one number",
                [try said([own]), try said([Part(streams: [(0, 2, [0, 1])])])],
                Verdict(refused: nil, forged: [], unconfirmed: 0, contradicted: true)),
        ]
    }

    private static func frame(
        _ counter: UInt64, _ content: [UInt8], context: MediaContext = .audio, generation: UInt32 = 7, index: UInt16 = 3
    ) -> [UInt8] {
        let keyID = CallKeyID(index: index, context: context, generation: generation, step: generation == 7 ? 2 : 0)
        return FrameHeader(keyID: keyID.rawValue, counter: counter).encoded + content
    }

    // MARK: Signals

    private static func hex(_ bytes: [UInt8]) -> String { String(decoding: Hex.encode(bytes), as: UTF8.self) }

    private static let call = [UInt8](repeating: 9, count: 16)
    private static let other = [UInt8](repeating: 8, count: 16)
    private static let sender = publicKey(1)
    private static let receiver = publicKey(2)

    private static func publicKey(_ number: UInt8) -> [UInt8] {
        let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: number, count: 32))
        return key.map { Array($0.publicKey.rawRepresentation) } ?? []
    }

    private static func signal(
        _ body: [UInt8], by signer: Curve25519.Signing.PrivateKey? = nil, naming name: [UInt8]? = nil,
        to recipient: [UInt8] = [UInt8](repeating: 0, count: 32), in call: [UInt8] = Self.call
    ) throws -> [UInt8] {
        let key = try signer ?? Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 1, count: 32))
        var writer = ByteWriter()
        writer.write("signet-call-signal/v2\n")
        writer.write(call)
        writer.write(name ?? sender)
        writer.write(recipient)
        writer.write(65_536 as UInt32)
        writer.write(1_000 as UInt64)
        writer.write(1_000 as UInt64)
        writer.write(0 as UInt16)
        writer.write(body)
        return writer.bytes + Array(try key.signature(for: writer.bytes))
    }

    private static func test(
        _ name: String, _ why: String, _ body: [UInt8], recipient: [UInt8] = [UInt8](repeating: 0, count: 32),
        call: [UInt8] = Self.call, refused: String? = nil
    ) throws -> CallDigestVector {
        let signal = hex(try signal(body, to: recipient, in: call))
        return vector(
            name, why, [Event(signal: signal)],
            Verdict(refused: refused, forged: [], unconfirmed: 0, contradicted: false))
    }

    private static func vector(_ name: String, _ why: String, _ events: [Event], _ verdict: Verdict) -> CallDigestVector
    {
        CallDigestVector(
            name: name, why: why, call: hex(call), receiver: hex(receiver), events: events, verdict: verdict)
    }
}
