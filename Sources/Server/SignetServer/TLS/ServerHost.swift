// SPDX-License-Identifier: Apache-2.0

import Platform

/// A name or an address under which clients reach the server.
public enum ServerHost: Hashable, Sendable {
    /// A DNS name.
    case name(String)
    /// An IP address: 4 or 16 bytes.
    case address([UInt8])

    /// Reads a name or the text of an address; nil if it is neither.
    public init?(_ text: String) {
        if let bytes = Self.bytes(of: text, AF_INET, count: 4) ?? Self.bytes(of: text, AF_INET6, count: 16) {
            self = .address(bytes)
            return
        }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, labels.allSatisfy(Self.isLabel) else { return nil }
        self = .name(text)
    }

    /// The bytes of an address in text; nil if it is none of this family.
    private static func bytes(of text: String, _ family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
            && label.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
            }
    }
}
