// SPDX-License-Identifier: Apache-2.0

/// A CBOR data item of one of the kinds that mobile documents use.
///
/// Spec: RFC 8949, section 3. There are no floating-point numbers, and no simple values but `false`, `true` and `null`.
public indirect enum CBORValue: Hashable, Sendable {
    /// A whole number that is not negative.
    case unsigned(UInt64)
    /// A negative whole number: −1 minus this number.
    case negative(UInt64)
    /// A byte string.
    case bytes([UInt8])
    /// A text string.
    case text(CBORText)
    /// An array.
    case array([CBORValue])
    /// A map, which has each key once.
    case map(CBORMap)
    /// An item under a tag.
    case tagged(UInt64, CBORValue)
    /// `false` or `true`.
    case bool(Bool)
    /// `null`.
    case null

    /// The tag of a byte string that holds an encoded item.
    ///
    /// Spec: RFC 8949, section 3.4.5.1.
    public static let encodedItemTag: UInt64 = 24

    /// A whole number.
    public static func integer(_ value: Int64) -> CBORValue {
        value < 0 ? .negative(UInt64(-1 - value)) : .unsigned(UInt64(value))
    }

    /// The byte string of an encoded item, under its tag.
    public static func encodedItem(_ bytes: [UInt8]) -> CBORValue { .tagged(encodedItemTag, .bytes(bytes)) }

    /// The number, if this is a whole number that `Int64` can hold.
    public var integer: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let value): Int64(exactly: value).map { -1 - $0 }
        default: nil
        }
    }

    /// The bytes, if this is a byte string.
    public var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    /// The text, if this is a text string.
    public var text: CBORText? { if case .text(let text) = self { text } else { nil } }

    /// The elements, if this is an array.
    public var array: [CBORValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The map, if this is a map.
    public var map: CBORMap? { if case .map(let map) = self { map } else { nil } }

    /// The bytes of the encoded item, if this is a byte string under ``encodedItemTag``.
    public var encodedItem: [UInt8]? {
        if case .tagged(Self.encodedItemTag, .bytes(let bytes)) = self { bytes } else { nil }
    }
}

extension CBORValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// A text.
    public init(stringLiteral value: StaticString) { self = .text(CBORText(stringLiteral: value)) }

    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

/// A CBOR map: keys and values in their original order, and each key once.
///
/// Spec: RFC 8949, section 3.1, major type 5.
public struct CBORMap: Hashable, Sendable {
    /// A key with its value.
    public struct Entry: Hashable, Sendable {
        /// A whole number or a text.
        public let key: CBORValue
        /// The value under the key.
        public let value: CBORValue
    }

    /// The entries, in their order.
    public let entries: [Entry]
    private let places: [CBORValue: Int]

    /// A map of these entries in this order.
    ///
    /// - Throws: ``CBORFault/keyKind``, ``CBORFault/duplicateKey``.
    public init(_ entries: [(CBORValue, CBORValue)]) throws(CBORFault) {
        var places: [CBORValue: Int] = [:]
        for (place, (key, _)) in entries.enumerated() {
            guard key.integer != nil || key.text != nil else { throw .keyKind }
            guard places.updateValue(place, forKey: key) == nil else { throw .duplicateKey }
        }
        self.entries = entries.map { Entry(key: $0, value: $1) }
        self.places = places
    }

    /// An empty map.
    public init() { (entries, places) = ([], [:]) }

    /// The value under a key; nil if the map does not have the key.
    public subscript(key: CBORValue) -> CBORValue? { places[key].map { entries[$0].value } }
}
