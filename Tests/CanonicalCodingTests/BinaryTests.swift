// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SeededRandomness
import Testing

struct VarintTests {
    /// The examples of the unsigned-varint specification.
    @Test(
        arguments: [
            (1, [0x01]), (127, [0x7F]), (128, [0x80, 0x01]), (255, [0xFF, 0x01]), (300, [0xAC, 0x02]),
            (16384, [0x80, 0x80, 0x01]),
            (0, [0x00]), (Varint.maximum, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
        ] as [(UInt64, [UInt8])])
    func aNumberHasOneEncoding(value: UInt64, bytes: [UInt8]) throws {
        #expect(try Varint.encode(value) == bytes)
        var reader = ByteReader(bytes)
        #expect(try Varint.decode(from: &reader) == value)
        try reader.end()
    }

    @Test(
        arguments: [
            ([], .truncated(needed: 1, remaining: 0)), ([0x80], .truncated(needed: 1, remaining: 0)),
            ([0x80, 0x00], .notMinimal), ([0x81, 0x80, 0x00], .notMinimal),
            ([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], .overflow),
            ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], .overflow),
        ] as [([UInt8], CanonicalCodingError)])
    func whatIsNotCanonicalIsRefused(bytes: [UInt8], reason: CanonicalCodingError) {
        var reader = ByteReader(bytes)
        #expect(throws: reason) { try Varint.decode(from: &reader) }
    }

    @Test func sixtyFourBitsDoNotFit() {
        #expect(throws: CanonicalCodingError.overflow) { try Varint.encode(Varint.maximum + 1) }
    }

    @Test func damagedBytesAreRefusedOrPrintBack() throws {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<20_000 {
            let value = generator.next() >> UInt64.random(in: 1..<64, using: &generator)
            let bytes = generator.mutate(try Varint.encode(value))
            var reader = ByteReader(bytes)
            guard let read = try? Varint.decode(from: &reader) else { continue }
            #expect(try Varint.encode(read) == Array(bytes[..<reader.offset]))
        }
    }
}

private enum Refusal: FormatError, Equatable {
    case malformed(CanonicalCodingError)
}

struct FormatReaderTests {
    @Test func everyFailureIsTheFormatsOwn() {
        var reader = FormatReader<Refusal>([0x41])
        #expect(throws: Refusal.malformed(.truncated(needed: 2, remaining: 1))) { try reader.uint16() }
        #expect(throws: Refusal.malformed(.truncated(needed: 8, remaining: 1))) { try reader.uint64() }
        #expect(throws: Refusal.malformed(.truncated(needed: 4, remaining: 1))) { try reader.count32() }
        #expect(throws: Refusal.malformed(.unterminatedLine(maximumLength: 9))) { try reader.line(maximumLength: 9) }
        #expect(throws: Refusal.malformed(.trailingBytes(1))) { try reader.end() }
    }

    @Test func whatIsNotBase64OrDecimalIsTheFormatsOwnFailure() throws {
        let lines = Array("QUI=\n0\nQ\n01\n".utf8)
        var reader = FormatReader<Refusal>(lines)
        #expect(try reader.base64(maximumLength: 4) == Array("AB".utf8))
        #expect(try reader.decimal(maximumLength: 20) == 0)
        #expect(throws: Refusal.self) { try reader.base64(maximumLength: 4) }
        #expect(throws: Refusal.self) { try reader.decimal(maximumLength: 20) }
        try reader.end()
    }

    @Test func itGoesOnWhereAnotherReaderIs() throws {
        var bytes = ByteReader([1, 2, 3])
        _ = try bytes.uint8()
        var reader = FormatReader<Refusal>(bytes)
        #expect(try reader.uint8() == 2)
        #expect(reader.rest() == [3])
    }
}

struct ByteReaderTests {
    /// 2^31 and more do not fit the `Int` of a 32-bit machine; the module for browsers is run with the same lengths.
    @Test(arguments: [0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] as [UInt32])
    func aCountThatTheInputDoesNotHaveIsRefused(count: UInt32) throws {
        var writer = ByteWriter()
        writer.write(count)
        var reader = ByteReader(writer.bytes)
        let read = try reader.count32()
        #expect(read == Int(clamping: count))
        #expect(throws: CanonicalCodingError.truncated(needed: read, remaining: 0)) { try reader.bytes(read) }
    }

    @Test func integersAreBigEndian() throws {
        var reader = ByteReader(Array(1...15))
        #expect(try reader.uint8() == 1)
        #expect(try reader.uint16() == 0x0203)
        #expect(try reader.uint32() == 0x0405_0607)
        #expect(try reader.uint64() == 0x0809_0A0B_0C0D_0E0F)
        try reader.end()
        #expect(reader.offset == 15 && reader.remaining == 0)
    }

    @Test func writtenValuesAreReadBack() throws {
        var writer = ByteWriter()
        writer.write(UInt8(1))
        writer.write(UInt16.max - 1)
        writer.write(UInt32.max - 2)
        writer.write(UInt64.max - 3)
        writer.write("line\n")
        writer.write([9, 8] as [UInt8])
        var reader = ByteReader(writer.bytes)
        #expect(try reader.uint8() == 1)
        #expect(try reader.uint16() == .max - 1)
        #expect(try reader.uint32() == .max - 2)
        #expect(try reader.uint64() == .max - 3)
        #expect(Array(try reader.line(maximumLength: 4)) == utf8("line"))
        #expect(Array(reader.rest()) == [9, 8])
        try reader.end()
    }

    @Test func aReaderOfASliceStartsAtTheSlice() throws {
        let bytes: [UInt8] = [0, 1, 2, 3, 10, 5]
        var reader = ByteReader(bytes[2...])
        #expect(try reader.uint8() == 2)
        #expect(Array(try reader.line(maximumLength: 9)) == [3])
        #expect(reader.remaining == 1)
        #expect(Array(try reader.bytes(1)) == [5])
    }

    @Test func nothingIsReadBeyondTheEnd() {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: CanonicalCodingError.truncated(needed: 4, remaining: 3)) { try reader.uint32() }
        #expect(throws: CanonicalCodingError.truncated(needed: 8, remaining: 3)) { try reader.uint64() }
        #expect(throws: CanonicalCodingError.truncated(needed: .max, remaining: 3)) { try reader.bytes(.max) }
        #expect(throws: CanonicalCodingError.truncated(needed: -1, remaining: 3)) { try reader.bytes(-1) }
        #expect(throws: CanonicalCodingError.trailingBytes(3)) { try reader.end() }
        #expect(reader.offset == 0)
        _ = reader.rest()
        #expect(throws: CanonicalCodingError.truncated(needed: 1, remaining: 0)) { try reader.uint8() }
        #expect(throws: CanonicalCodingError.truncated(needed: 2, remaining: 0)) { try reader.uint16() }
    }

    @Test func aLineIsBounded() throws {
        var reader = ByteReader(utf8("abc\nd"))
        #expect(throws: CanonicalCodingError.unterminatedLine(maximumLength: 2)) {
            try reader.line(maximumLength: 2)
        }
        #expect(reader.offset == 0)
        #expect(Array(try reader.line(maximumLength: 3)) == utf8("abc"))
        #expect(throws: CanonicalCodingError.unterminatedLine(maximumLength: 100)) {
            try reader.line(maximumLength: 100)
        }
        var empty = ByteReader(utf8("\n"))
        #expect(try empty.line(maximumLength: 0).isEmpty)
    }
}
