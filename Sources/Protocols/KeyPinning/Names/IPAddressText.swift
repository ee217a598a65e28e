// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Text of IP addresses: dotted decimal, and the colon form with one `::`.
///
/// Spec: RFC 4291 section 2.2, forms 1 and 2.
enum IPAddressText {
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        text.contains(UInt8(ascii: ":")) ? version6(text) : version4(text)
    }

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.count == 4 { return Array(bytes.map { Decimal.encode(UInt64($0)) }.joined(separator: [0x2E])) }
        let groups = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            let digits = Hex.encode(Array(bytes[index...index + 1]))
            return Array(digits.dropLast().drop { $0 == UInt8(ascii: "0") } + digits.suffix(1))
        }
        return Array(groups.joined(separator: [0x3A]))
    }

    private static func version4(_ text: [UInt8]) -> [UInt8]? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard let value = try? Decimal.decode(part), let byte = UInt8(exactly: value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func version6(_ text: [UInt8]) -> [UInt8]? {
        let gap = Array("::".utf8)
        let starts = text.indices.filter { text[$0...].starts(with: gap) }
        guard starts.count <= 1 else { return nil }
        guard let start = starts.first else {
            guard let groups = groups(text[...]), groups.count == 16 else { return nil }
            return groups
        }
        guard let head = groups(text[..<start]), let tail = groups(text[(start + 2)...]), head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        for group in text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
            guard (1...4).contains(group.count) else { return nil }
            let digits = [UInt8](repeating: 0x30, count: 4 - group.count) + group.map(DNSName.lower)
            guard let pair = try? Hex.decode(digits) else { return nil }
            bytes += pair
        }
        return bytes
    }
}
