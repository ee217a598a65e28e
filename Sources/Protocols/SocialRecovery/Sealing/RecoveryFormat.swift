// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import KeyTransparency

/// Why bytes are none of this module's forms. The sender made something malformed; a retry cannot help.
public enum RecoveryFormatError: Error, Hashable, Sendable {
    /// Another first line.
    case unknownFormat
    /// The same form in another version: made by an older or a newer program.
    case anotherVersion
    /// Cut short, left over, or not canonical.
    case malformed(CanonicalCodingError)
    /// A field out of its bounds.
    case invalidField
}

/// To which account and which set of shares something belongs. What is sealed for one cannot be opened as another's.
public struct RecoveryScope: Hashable, Sendable {
    /// The account.
    public let label: LabelIndex
    /// Runs from 1.
    public let epoch: UInt32

    /// An account's epoch; nil for epoch 0.
    public init?(label: LabelIndex, epoch: UInt32) {
        guard epoch > 0 else { return nil }
        self.label = label
        self.epoch = epoch
    }

    /// 32-byte label index, u32 epoch.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(label.bytes)
        writer.write(epoch)
        return writer.bytes
    }

    init(from reader: inout ByteReader) throws {
        guard let label = LabelIndex(Array(try reader.bytes(32))),
            let scope = RecoveryScope(label: label, epoch: try reader.uint32())
        else { throw RecoveryFormatError.invalidField }
        self = scope
    }
}

enum RecoveryFormat {
    /// Reads a whole form: the first line, what `body` reads, and nothing after it.
    static func read<Value>(
        _ bytes: [UInt8], _ format: StaticString, _ body: (inout ByteReader) throws -> Value
    ) throws(RecoveryFormatError) -> Value {
        do {
            var reader = ByteReader(bytes)
            let first = try reader.bytes(min(format.utf8CodeUnitCount, bytes.count))
            guard format.withUTF8Buffer({ first.elementsEqual($0) }) else {
                throw isAnotherVersion(of: format, bytes) ? .anotherVersion : RecoveryFormatError.unknownFormat
            }
            let value = try body(&reader)
            try reader.end()
            return value
        } catch let error as RecoveryFormatError { throw error } catch let error as CanonicalCodingError {
            throw .malformed(error)
        } catch { throw .invalidField }
    }

    /// Whether bytes begin as `format` does, up to the number of its version.
    private static func isAnotherVersion(of format: StaticString, _ bytes: [UInt8]) -> Bool {
        let name = format.withUTF8Buffer { Array($0) }
        guard let slash = name.lastIndex(of: UInt8(ascii: "/")) else { return false }
        return bytes.starts(with: name[...(slash + 1)])
    }
}

extension ByteReader {
    /// `count` bytes as an array.
    mutating func array(_ count: Int) throws(CanonicalCodingError) -> [UInt8] { Array(try bytes(count)) }

    /// Bytes behind their length in one byte.
    mutating func short() throws(CanonicalCodingError) -> [UInt8] { try array(Int(uint8())) }

    /// Bytes behind their length in four bytes.
    mutating func long() throws(CanonicalCodingError) -> [UInt8] { try array(Int(uint32())) }

    mutating func handle() throws -> Handle { try Handle(canonical: short()) }

    /// A byte that is 0 or 1.
    mutating func flag() throws -> Bool {
        switch try uint8() {
        case 0: false
        case 1: true
        default: throw RecoveryFormatError.invalidField
        }
    }

    /// Zeros to the end.
    mutating func padding() throws {
        guard rest().allSatisfy({ $0 == 0 }) else { throw RecoveryFormatError.invalidField }
    }
}

extension ByteWriter {
    mutating func short(_ bytes: [UInt8]) {
        write(UInt8(truncatingIfNeeded: bytes.count))
        write(bytes)
    }

    mutating func long(_ bytes: [UInt8]) {
        write(UInt32(truncatingIfNeeded: bytes.count))
        write(bytes)
    }

    mutating func flag(_ value: Bool) { write(UInt8(value ? 1 : 0)) }
}

extension [UInt8] {
    /// With zeros at the end, up to a multiple of `step`.
    func padded(toMultipleOf step: Int) -> [UInt8] {
        self + [UInt8](repeating: 0, count: (step - count % step) % step)
    }
}
