// SPDX-License-Identifier: Apache-2.0

/// A secret that must turn up nowhere: a text that a person typed, or a key.
public struct Canary: Hashable, Sendable {
    /// The fewest bytes of a fragment that is looked for: what is shorter turns up by chance.
    public static let minimumByteCount = 8

    /// What it stands for, as a finding says it.
    public let name: String
    /// The secret.
    public let bytes: [UInt8]

    /// A secret that exists already.
    public init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// A new text of 36 characters, 40 bytes of UTF-8. Each half has characters that JSON and URLs spell otherwise.
    public static func text(_ name: String) -> Canary {
        let letters = Array("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        func half() -> String {
            let random = String((0..<14).compactMap { _ in letters.randomElement() })
            return random.prefix(5) + "é/" + random.dropFirst(5).prefix(4) + "ü\"" + random.suffix(5)
        }
        return Canary(name, Array((half() + half()).utf8))
    }

    /// A new word of 32 letters and digits, for what may hold nothing else: a tag, a file name.
    public static func word(_ name: String) -> Canary {
        let letters = Array("abcdefghijkmnopqrstuvwxyz23456789".utf8)
        return Canary(name, (0..<32).compactMap { _ in letters.randomElement() })
    }

    /// As a text; damaged where the secret is none.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// What is looked for: a secret of 24 bytes or more in halves, so that one half is whole wherever a database or a
    /// protocol cuts it once.
    var fragments: [[UInt8]] {
        guard bytes.count >= 24 else { return [bytes] }
        var middle = bytes.count / 2
        // Not inside a character.
        while middle < bytes.count && bytes[middle] & 0xC0 == 0x80 { middle += 1 }
        guard bytes.count - middle >= Self.minimumByteCount else { return [bytes] }
        return [Array(bytes[..<middle]), Array(bytes[middle...])]
    }
}
