// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing

@testable import SFrame

struct HeaderTests {
    @Test func aNumberBelow8InAByteOfItsOwnIsRefused() {
        for value: UInt8 in 0..<8 {
            #expect(throws: FrameHeaderError.notMinimal) { try FrameHeader(startOf: [0x80, value]) }
            #expect(throws: FrameHeaderError.notMinimal) { try FrameHeader(startOf: [0x08, value]) }
        }
        #expect(throws: Never.self) { try FrameHeader(startOf: [0x80, 8]) }
    }

    @Test func aLeadingZeroByteIsRefused() {
        #expect(throws: FrameHeaderError.notMinimal) { try FrameHeader(startOf: [0x90, 0, 200]) }
        #expect(throws: FrameHeaderError.notMinimal) { try FrameHeader(startOf: [0x0B, 0, 200, 0, 0]) }
    }

    @Test func anAcceptedHeaderRoundTrips() {
        var generator = SeededGenerator(seed: 1)
        var accepted = 0
        for _ in 0..<200_000 {
            let count = Int.random(in: 0...18, using: &generator)
            let bytes = (0..<count).map { _ in
                Bool.random(using: &generator) ? UInt8.random(in: 0...255, using: &generator) : 0
            }
            guard let header = try? FrameHeader(startOf: bytes) else { continue }
            accepted += 1
            #expect(header.encoded == Array(bytes.prefix(header.byteCount)))
        }
        #expect(accepted > 10_000)
    }

    @Test func everyFirstByteIsReadOrRefused() {
        for first: UInt8 in 0...255 {
            for filler: UInt8 in [0, 1, 255] {
                let bytes = [first] + [UInt8](repeating: filler, count: 16)
                guard let header = try? FrameHeader(startOf: bytes) else { continue }
                #expect(header.encoded == Array(bytes.prefix(header.byteCount)))
            }
        }
    }
}
