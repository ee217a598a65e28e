// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SeededRandomness
import Testing

@testable import CallSignalling

struct SignalTests {
    private func refusal(_ bytes: [UInt8]) -> SignalDecodingError? {
        do throws(SignalDecodingError) { _ = try Signal(decoding: bytes) } catch { return error }
        return nil
    }

    @Test func everyBodyIsReadBackUnchanged() throws {
        let cast = try Cast()
        for body in try cast.bodies() {
            for recipient in [nil, cast.member.device] {
                let signal = try cast.host.sign(cast.content(body, to: recipient))
                let read = try Signal(decoding: signal.encoded)
                #expect(read == signal && read.encoded == signal.encoded)
                #expect(try read.verify(for: cast.member.device, in: cast.callID).content == signal.content)
            }
        }
    }

    @Test func everyFlippedBitIsRefused() throws {
        let cast = try Cast()
        let bytes = try cast.host.sign(cast.content(try cast.bodies()[3], to: cast.member.device)).encoded
        for bit in 0..<bytes.count * 8 where bit % 8 == (bit / 8) % 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: (any Error).self) {
                try Signal(decoding: damaged).verify(for: cast.member.device, in: cast.callID)
            }
        }
    }

    @Test func everyCutIsRefused_andEveryByteMore() throws {
        let cast = try Cast()
        for body in try cast.bodies() {
            let bytes = try cast.host.sign(cast.content(body)).encoded
            for length in 0..<bytes.count { #expect(refusal(Array(bytes[..<length])) != nil) }
            #expect(refusal(bytes + [0]) == .malformed(.trailingBytes(1)))
        }
    }

    @Test func anotherCallIsRefused() throws {
        let cast = try Cast()
        let signal = try cast.host.sign(cast.content(.leave))
        let other = try #require(CallID([UInt8](repeating: 1, count: 16)))
        #expect(throws: SignalVerificationError.anotherCall) { try signal.verify(for: cast.member.device, in: other) }
    }

    @Test func anotherRecipientIsRefused() throws {
        let cast = try Cast()
        let signal = try cast.host.sign(cast.content(.leave, to: cast.other.device))
        #expect(throws: SignalVerificationError.anotherRecipient) {
            try signal.verify(for: cast.member.device, in: cast.callID)
        }
    }

    @Test func aSignatureOfAnotherDeviceIsRefused() throws {
        let cast = try Cast()
        let signal = try cast.other.sign(cast.content(.leave))
        #expect(throws: SignalVerificationError.invalidSignature) {
            try signal.verify(for: cast.member.device, in: cast.callID)
        }
    }

    @Test func undefinedNumbersAreRefusedByName() throws {
        let cast = try Cast()
        let body = 21 + 16 + 32 + 32 + 4 + 8 + 8 + 2 + 1
        func change(_ kind: Int, _ offset: Int, _ value: UInt8) throws -> SignalDecodingError? {
            var bytes = try cast.host.sign(cast.content(try cast.bodies()[kind])).encoded
            bytes[body + offset] = value
            return refusal(bytes)
        }
        #expect(try change(1, 0, 77) == .unknownBody(77))
        #expect(try change(1, 0, 0) == .unknownBody(0))
        #expect(try change(4, 9, 16) == .invalidEpoch)
        #expect(try change(4, 4, 0) == .invalidEpoch)
        // Whoever takes over from a host that has used the greatest number would have none to give.
        #expect(try change(4, 5, 0x80) == .invalidEpoch)
        #expect(try change(3, 1 + 9 + 1 + 32 + 8 + 16 + 4, 0x80) == .invalidRoster)
        #expect(try change(4, 5, 0x7F) == nil && change(3, 1 + 9 + 1 + 32 + 8 + 16 + 4, 0x7F) == nil)
        #expect(try change(3, 10, 9) == .unknownReason(9))
        #expect(try change(6, 17, 0) == .unknownReason(0))
        #expect(try change(8, 1 + 9 + 4 + 32 + 2, 2) == .unknownMark(2))
        let rosterByteCount = 16 + 4 + 4 + 32 + 2 + 2 + 3 * 34 + 2 + 32
        let form = 1 + 9 + 1 + 32 + 8 + rosterByteCount + 2 + 32 + 9
        #expect(try change(3, form, 4) == .unknownWrapForm(4))
        #expect(refusal([UInt8](repeating: 0, count: 65_537)) == .tooLong(65_537))
        #expect(refusal([UInt8](repeating: 0, count: 300)) == .unknownFormat)
    }

    @Test func aWrapIsAtMost512Bytes() throws {
        let cast = try Cast()
        let wrap = KeyWrap(
            recipient: cast.member.device, epoch: cast.epoch, form: .hpkeP256, bytes: [UInt8](repeating: 0, count: 513))
        guard case .reply(let reply) = try cast.bodies()[7] else { return }
        #expect(
            refusal(try cast.host.sign(cast.content(.reply(reply.with(wraps: [wrap])))).encoded) == .wrapTooLong(513))
    }

    @Test func damagedSignalsAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 5)
        let cast = try Cast()
        let signals = try cast.bodies().map { try cast.host.sign(cast.content($0)).encoded }
        for round in 0..<30_000 {
            var bytes = signals[round % signals.count]
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
                }
            }
            if let signal = try? Signal(decoding: bytes) { #expect(signal.encoded == bytes) }
        }
    }
}
