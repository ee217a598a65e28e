// SPDX-License-Identifier: Apache-2.0

/// A JSON value.
///
/// Spec: RFC 8259, section 3.
public enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number as it is spelled.
    case number(JSONNumber)
    /// A string.
    case string(JSONText)
    /// An array.
    case array([JSONValue])
    /// An object, in which each name stands once.
    case object(JSONObject)

    /// A whole number.
    public static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }

    /// The string, if this is one.
    public var string: JSONText? { if case .string(let text) = self { text } else { nil } }

    /// The elements, if this is an array.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The object, if this is one.
    public var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    /// The whole number, if this is one that ``JSONNumber/integer`` reads.
    public var integer: Int64? { if case .number(let number) = self { number.integer } else { nil } }

    /// The strings, if this is an array of strings and of nothing else.
    public var strings: [JSONText]? {
        guard let elements = array else { return nil }
        let strings = elements.compactMap { $0.string }
        return strings.count == elements.count ? strings : nil
    }
}

/// A JSON object: names and values, each name once, in no order.
///
/// Spec: RFC 8259, section 4.
public struct JSONObject: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// The members.
    public private(set) var members: [JSONText: JSONValue]

    /// An object of these members.
    public init(_ members: [JSONText: JSONValue] = [:]) { self.members = members }

    /// An object of a literal's members; of two with the same name the last counts.
    public init(dictionaryLiteral elements: (JSONText, JSONValue)...) {
        members = [:]
        for (name, value) in elements { members[name] = value }
    }

    /// The value of a member, nil if there is none of this name.
    public subscript(name: JSONText) -> JSONValue? {
        get { members[name] }
        set { members[name] = newValue }
    }

    /// The names in the order of their bytes.
    public var names: [JSONText] { members.keys.sorted() }
}
