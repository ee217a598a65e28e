// SPDX-License-Identifier: Apache-2.0

/// A record of DNS, class Internet.
///
/// Spec: RFC 1035, section 3.2; RFC 2782 (SRV); RFC 3596 (AAAA); RFC 6762, section 10.2 (cache flush).
public struct DNSRecord: Hashable, Sendable {
    /// What the record says.
    public enum Value: Hashable, Sendable {
        /// IPv4, 4 bytes.
        case address4([UInt8])
        /// IPv6, 16 bytes.
        case address6([UInt8])
        /// Another name.
        case pointer(MulticastName)
        /// Strings, which are not read here.
        case text([UInt8])
        /// Where a service is: the port, and the name of its host.
        case service(port: UInt16, host: MulticastName)
        /// A record of another type.
        case other(type: UInt16)
    }

    /// Whose record it is.
    public let name: MulticastName
    /// What it says.
    public let value: Value
    /// For how long it may be kept, in seconds; 0 says goodbye.
    public let lifetime: UInt32
    /// Whether it takes the place of all others of its name and type.
    public let isUnique: Bool

    /// A record.
    public init(_ name: MulticastName, _ value: Value, lifetime: UInt32, isUnique: Bool) {
        (self.name, self.value, self.lifetime, self.isUnique) = (name, value, lifetime, isUnique)
    }

    /// The type's number.
    public var type: UInt16 {
        switch value {
        case .address4: DNSType.address4
        case .pointer: DNSType.pointer
        case .text: DNSType.text
        case .address6: DNSType.address6
        case .service: DNSType.service
        case .other(let type): type
        }
    }
}

/// Numbers of types of records.
public enum DNSType {
    /// A.
    public static let address4: UInt16 = 1
    /// PTR.
    public static let pointer: UInt16 = 12
    /// TXT.
    public static let text: UInt16 = 16
    /// AAAA.
    public static let address6: UInt16 = 28
    /// SRV.
    public static let service: UInt16 = 33
    /// All types.
    public static let any: UInt16 = 255
}

/// A question.
public struct DNSQuestion: Hashable, Sendable {
    /// About which name.
    public let name: MulticastName
    /// About which type; ``DNSType/any`` for all.
    public let type: UInt16
    /// Whether the answer may come to the asker alone.
    public let wantsUnicast: Bool

    /// A question.
    public init(_ name: MulticastName, _ type: UInt16, wantsUnicast: Bool = false) {
        (self.name, self.type, self.wantsUnicast) = (name, type, wantsUnicast)
    }
}
