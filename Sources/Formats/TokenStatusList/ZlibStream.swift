// SPDX-License-Identifier: Apache-2.0

import Inflation

/// One zlib stream, whole, and nothing after it.
///
/// Spec: RFC 1950, section 2.2.
enum ZlibStream {
    /// - Throws: ``StatusFault/list``, or ``StatusFault/listSize`` as soon as more comes out than may.
    static func inflated(_ bytes: [UInt8], maximumByteCount: Int) throws(StatusFault) -> [UInt8] {
        guard bytes.count >= 6, isHeader(bytes[0], bytes[1]) else { throw .list }
        var inflater = Inflater(maximumByteCount: maximumByteCount)
        let ending = inflater.inflate(bytes.span, from: 2)
        guard ending != .tooLong else { throw .listSize }
        guard case .complete(let end) = ending, bytes.count == end + 4,
            bytes[end...].elementsEqual(checksum(inflater.output))
        else { throw .list }
        return inflater.output
    }

    /// A stream of these bytes.
    static func deflated(_ bytes: [UInt8]) -> [UInt8] { [0x78, 0x9C] + Deflater.deflated(bytes) + checksum(bytes) }

    /// Deflate, a window of at most 32 KiB, a header that is a multiple of 31, and no dictionary.
    private static func isHeader(_ method: UInt8, _ flags: UInt8) -> Bool {
        method & 0x0F == 8 && method >> 4 <= 7 && flags & 0x20 == 0
            && (UInt16(method) << 8 | UInt16(flags)).isMultiple(of: 31)
    }

    /// Adler-32, big-endian.
    static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var (first, second): (UInt32, UInt32) = (1, 0)
        for start in stride(from: 0, to: bytes.count, by: 4096) {  // the sums of so many bytes fit 32 bits
            for byte in bytes[start..<min(start + 4096, bytes.count)] {
                first &+= UInt32(byte)
                second &+= first
            }
            first %= 65_521
            second %= 65_521
        }
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (second << 16 | first) >> $0) }
    }
}
