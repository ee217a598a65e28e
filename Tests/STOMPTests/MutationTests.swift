// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing

@testable import STOMP

/// Streams cut, joined and damaged at random.
struct MutationTests {
    private func randomFrame(_ generator: inout SeededGenerator) throws -> StompFrame {
        let command = StompCommand.allCases.randomElement(using: &generator) ?? .send
        let letters = Array(command.escapesHeaders ? "ab:\\\r\né\u{1F600} ".utf8 : "ab\\ xyz".utf8)
        func text() -> [UInt8] {
            let text = String(
                (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in
                    String(decoding: letters, as: UTF8.self).randomElement(using: &generator)
                })
            return Array(text.utf8)
        }
        var headers = command.requiredHeaders.map { StompHeader($0, text()) }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            headers.append(StompHeader(StompHeaderName(utf8("x") + text()), text()))
        }
        let count = command.mayHaveBody ? Int.random(in: 0...300, using: &generator) : 0
        return try StompFrame(
            command, headers, body: (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    @Test func writtenFramesAreReadBack_howeverTheyAreCut() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<300 {
            let frames = try (0..<5).map { _ in try randomFrame(&generator) }
            let bytes = frames.flatMap(\.encoded)
            for size in [1, 2, 7, 64, Int.max] {
                let (elements, fault) = decode(bytes, inPiecesOf: size)
                #expect(fault == nil)
                #expect(elements == frames.map { .frame($0) })
            }
        }
    }

    @Test func damagedStreamsAreReadOrRefused_alikeInPiecesAndAtOnce() async throws {
        var generator = SeededGenerator(seed: 2)
        var refused = 0
        for _ in 0..<20_000 {
            await Task.yield()  // Tests of real servers share the threads.
            var bytes = try randomFrame(&generator).encoded + randomFrame(&generator).encoded
            for _ in 0..<Int.random(in: 1...3, using: &generator) { damage(&bytes, &generator) }
            let whole = decode(bytes)
            let pieces = decode(bytes, inPiecesOf: Int.random(in: 1...9, using: &generator))
            #expect(whole.elements == pieces.elements && whole.fault == pieces.fault)
            if whole.fault != nil { refused += 1 }
            for case .frame(let frame) in whole.elements {
                #expect(decode(frame.encoded).elements == [.frame(frame)])
            }
        }
        #expect(refused > 5000)
    }

    @Test func aLineThatIsTooLongAndHasACarriageReturn_isRefusedAlike_inPiecesAndAtOnce() {
        let limits = StompLimits(headByteCount: 8, headerCount: 1, bodyByteCount: 8)
        for text in ["A\rAAAAAA\n", "AAAAAAAA\rA\n", "A\rAAAAAA\r\n"] {
            let bytes = utf8(text)
            #expect(decode(bytes, limits: limits).fault == .headTooLong(maximum: 8))
            #expect(decode(bytes, inPiecesOf: 1, limits: limits).fault == .headTooLong(maximum: 8))
        }
        #expect(decode(utf8("A\rAAAAA\n"), limits: limits).fault == .strayCarriageReturn)
        #expect(decode(utf8("A\rAAAAA\n"), inPiecesOf: 1, limits: limits).fault == .strayCarriageReturn)
    }

    @Test func randomBytesAreReadOrRefused() {
        var generator = SeededGenerator(seed: 3)
        let telling = Array("\r\n:\\\0".utf8) + Array("SEND".utf8)
        for _ in 0..<50_000 {
            let count = Int.random(in: 0...60, using: &generator)
            _ = decode((0..<count).map { _ in telling.randomElement(using: &generator) ?? 0 })
        }
    }

    private func damage(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let byte = Array("\r\n:\\\0Sa1".utf8).randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[place] = byte
        case 2: bytes.insert(byte, at: place)
        default: bytes.remove(at: place)
        }
    }
}
