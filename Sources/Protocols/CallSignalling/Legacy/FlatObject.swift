// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A JSON object whose members are plain texts and natural numbers, in order of name.
struct FlatObject {
    var text: [LegacyText: LegacyText] = [:]
    var number: [LegacyText: UInt64] = [:]

    init() {}

    var isEmpty: Bool { text.isEmpty && number.isEmpty }

    var encoded: [UInt8] {
        let texts = text.map { ($0.key, Self.quoted($0.value)) }
        let numbers = number.map { ($0.key, Decimal.encode($0.value)) }
        let members = (texts + numbers).sorted { $0.0 < $1.0 }.map { Self.quoted($0.0) + [UInt8(ascii: ":")] + $0.1 }
        return [UInt8(ascii: "{")] + members.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    }

    /// Reads an object by its parts and demands that it prints back unchanged, which holds order, spelling and
    /// uniqueness of names at once.
    init(decoding bytes: [UInt8]) throws(LegacySignalError) {
        guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}"), bytes.count >= 2 else {
            throw .malformed
        }
        var rest = bytes[1..<bytes.count - 1]
        while !rest.isEmpty {
            let name = try Self.takeQuoted(&rest)
            guard rest.popFirst() == UInt8(ascii: ":") else { throw .malformed }
            if rest.first == UInt8(ascii: "\"") {
                text[name] = try Self.takeQuoted(&rest)
            } else {
                let digits = rest.prefix { $0 != UInt8(ascii: ",") }
                rest = rest.dropFirst(digits.count)
                do { number[name] = try Decimal.decode(digits) } catch { throw .malformed }
            }
            guard rest.isEmpty || rest.popFirst() == UInt8(ascii: ",") else { throw .malformed }
        }
        guard encoded == bytes else { throw .malformed }
    }

    mutating func set(_ party: LegacyParty, _ role: StaticString) {
        let role = role.withUTF8Buffer { Array($0) }
        text[Self.name(role, "Id")] = party.participant
        text[Self.name(role, "DeviceId")] = party.device
    }

    mutating func takeText(_ name: LegacyText) throws(LegacySignalError) -> LegacyText {
        guard let value = text.removeValue(forKey: name) else { throw .missingMember }
        return value
    }

    mutating func takeNumber(_ name: LegacyText) throws(LegacySignalError) -> UInt64 {
        guard let value = number.removeValue(forKey: name) else { throw .missingMember }
        return value
    }

    mutating func takeBytes(_ name: LegacyText) throws(LegacySignalError) -> [UInt8] {
        do { return try Base64.decode(try takeText(name).bytes) } catch { throw .missingMember }
    }

    mutating func takeParty(_ role: StaticString) throws(LegacySignalError) -> LegacyParty {
        let role = role.withUTF8Buffer { Array($0) }
        return LegacyParty(
            participant: try takeText(Self.name(role, "Id")), device: try takeText(Self.name(role, "DeviceId")))
    }

    private static func name(_ role: [UInt8], _ suffix: String) -> LegacyText {
        LegacyText(role + Array(suffix.utf8)) ?? ""
    }

    private static func quoted(_ text: LegacyText) -> [UInt8] {
        [UInt8(ascii: "\"")] + text.bytes + [UInt8(ascii: "\"")]
    }

    private static func takeQuoted(_ rest: inout ArraySlice<UInt8>) throws(LegacySignalError) -> LegacyText {
        guard rest.popFirst() == UInt8(ascii: "\""), let end = rest.firstIndex(of: UInt8(ascii: "\"")),
            let text = LegacyText(Array(rest[..<end]))
        else { throw .malformed }
        rest = rest[(end + 1)...]
        return text
    }
}
