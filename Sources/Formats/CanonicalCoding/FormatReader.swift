// SPDX-License-Identifier: Apache-2.0

/// An error with a place for "these bytes do not have the form".
package protocol FormatError: Error {
    /// The bytes are malformed in this way. An enum case of this name is enough.
    static func malformed(_ error: CanonicalCodingError) -> Self
}

/// A ``ByteReader`` whose every failure is the format's own error, so that a decoder throws one type.
package struct FormatReader<Failure: FormatError> {
    /// What reads.
    package var reader: ByteReader

    /// A reader at the start of `input`.
    package init(_ input: [UInt8]) { reader = ByteReader(input) }

    /// A reader that goes on where another one is.
    package init(_ reader: ByteReader) { self.reader = reader }

    /// The next `count` bytes.
    package mutating func bytes(_ count: Int) throws(Failure) -> ArraySlice<UInt8> {
        do throws(CanonicalCodingError) { return try reader.bytes(count) } catch { throw .malformed(error) }
    }

    /// The next byte.
    package mutating func uint8() throws(Failure) -> UInt8 {
        do throws(CanonicalCodingError) { return try reader.uint8() } catch { throw .malformed(error) }
    }

    /// The next two bytes, big-endian.
    package mutating func uint16() throws(Failure) -> UInt16 {
        do throws(CanonicalCodingError) { return try reader.uint16() } catch { throw .malformed(error) }
    }

    /// The next eight bytes, big-endian.
    package mutating func uint64() throws(Failure) -> UInt64 {
        do throws(CanonicalCodingError) { return try reader.uint64() } catch { throw .malformed(error) }
    }

    /// The next four bytes, big-endian, as a count; see ``ByteReader/count32()``.
    package mutating func count32() throws(Failure) -> Int {
        do throws(CanonicalCodingError) { return try reader.count32() } catch { throw .malformed(error) }
    }

    /// The bytes before the next LF, which is read too.
    package mutating func line(maximumLength: Int) throws(Failure) -> ArraySlice<UInt8> {
        do throws(CanonicalCodingError) { return try reader.line(maximumLength: maximumLength) } catch {
            throw .malformed(error)
        }
    }

    /// The bytes whose base64 the next line is; see ``Base64/decode(_:)``.
    package mutating func base64(maximumLength: Int) throws(Failure) -> [UInt8] {
        let line = try line(maximumLength: maximumLength)
        do throws(CanonicalCodingError) { return try Base64.decode(line) } catch { throw .malformed(error) }
    }

    /// The number that the next line is; see ``Decimal/decode(_:)``.
    package mutating func decimal(maximumLength: Int) throws(Failure) -> UInt64 {
        let line = try line(maximumLength: maximumLength)
        do throws(CanonicalCodingError) { return try Decimal.decode(line) } catch { throw .malformed(error) }
    }

    /// Everything that is left.
    package mutating func rest() -> ArraySlice<UInt8> { reader.rest() }

    /// Demands that everything has been read.
    package func end() throws(Failure) {
        do throws(CanonicalCodingError) { try reader.end() } catch { throw .malformed(error) }
    }
}
