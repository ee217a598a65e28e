// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Whom a client means to reach: a DNS name or an IP address.
public enum ServerName: Hashable, Sendable {
    /// A DNS name in ASCII, lower-case, without a dot at its end.
    case dns([UInt8])
    /// An IP address in network order: 4 or 16 bytes.
    case address([UInt8])

    /// Reads a host, upper or lower case, IPv6 without brackets.
    ///
    /// - Throws: ``ServerNameFault``.
    public init(_ text: some Sequence<UInt8>) throws(ServerNameFault) {
        let text = Array(text)
        if let address = IPAddressText.decode(text) {
            self = .address(address)
        } else {
            self = .dns(try DNSName.decode(text[...]))
        }
    }

    /// Its text; an IPv6 address is written without abbreviation.
    public var text: [UInt8] {
        switch self {
        case .dns(let name): name
        case .address(let bytes): IPAddressText.encode(bytes)
        }
    }
}

/// Why a host cannot be used.
public enum ServerNameFault: Error, Hashable, Sendable {
    /// No name at all, or more than 253 bytes.
    case invalidLength(Int)
    /// A label that is empty, longer than 63 bytes, or begins or ends with a hyphen.
    case invalidLabel
    /// A character that no host name has.
    case invalidCharacter(offset: Int)
    /// The last label is a number, and it is not an IPv4 address either.
    case numericEnd
}

enum DNSName {
    static let dot = UInt8(ascii: ".")
    private static let hyphen = UInt8(ascii: "-")

    /// A name in lower case. Underscores are in use, although RFC 1123 has none.
    static func decode(_ text: ArraySlice<UInt8>) throws(ServerNameFault) -> [UInt8] {
        let name = text.map(lower)
        guard (1...253).contains(name.count) else { throw .invalidLength(name.count) }
        if let offset = name.firstIndex(where: { !isCharacter($0) }) { throw .invalidCharacter(offset: offset) }
        let labels = labels(name)
        for label in labels {
            guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else {
                throw .invalidLabel
            }
        }
        guard let last = labels.last, !last.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .numericEnd }
        return name
    }

    static func labels(_ name: [UInt8]) -> [ArraySlice<UInt8>] {
        name.split(separator: dot, omittingEmptySubsequences: false)
    }

    /// Whether a name is below another by at least one label.
    static func isBelow(_ name: [UInt8], _ parent: [UInt8]) -> Bool {
        name.count > parent.count + 1 && name.suffix(parent.count) == parent[...]
            && name[name.count - parent.count - 1] == dot
    }

    static func lower(_ character: UInt8) -> UInt8 {
        (0x41...0x5A).contains(character) ? character | 0x20 : character
    }

    private static func isCharacter(_ character: UInt8) -> Bool {
        switch character {
        case 0x61...0x7A, 0x30...0x39, hyphen, dot, UInt8(ascii: "_"): true
        default: false
        }
    }
}
