// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

// One call in flight: the page writes length-prefixed fields into the input, calls, reads the output.
nonisolated(unsafe) private var input: [UInt8] = []
nonisolated(unsafe) var output: [UInt8] = []

private let maximumInput = 4 << 20

/// The address of `count` bytes for the next call, 0 when that is too many.
@_cdecl("signet_input") public func signetInput(_ count: Int32) -> UnsafeMutableRawPointer? {
    guard count >= 0 && Int(count) <= maximumInput else { return nil }
    input = [UInt8](repeating: 0, count: Int(count))
    return input.withUnsafeMutableBytes { $0.baseAddress }
}

/// The address of what the last call put out; good until the next call.
@_cdecl("signet_output") public func signetOutput() -> UnsafeRawPointer? {
    output.withUnsafeBytes { $0.baseAddress }
}

/// How many bytes it put out.
@_cdecl("signet_output_count") public func signetOutputCount() -> Int32 { Int32(output.count) }

/// What the page wrote into the input, field by field; each has its length in four bytes before it.
struct Fields {
    var reader: ByteReader

    init() { reader = ByteReader(input) }

    mutating func bytes() throws(CanonicalCodingError) -> [UInt8] {
        Array(try reader.bytes(try reader.count32()))
    }
}

extension Fields {
    static func three() -> ([UInt8], [UInt8], [UInt8])? {
        output = []
        var fields = Fields()
        do throws(CanonicalCodingError) {
            let parts = (try fields.bytes(), try fields.bytes(), try fields.bytes())
            try fields.reader.end()
            return parts
        } catch { return nil }
    }
}

func write(_ bytes: [UInt8], to writer: inout ByteWriter) {
    writer.write(UInt32(truncatingIfNeeded: bytes.count))
    writer.write(bytes)
}
