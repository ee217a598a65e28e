// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Where a token keeps a key: `pkcs11:token=…;object=…?module-path=…&pin-source=file:…`.
///
/// These four attributes, each once, in any order within path and query; other characters than letters, digits and `-._~:@!$'()*+,=/` stand as `%XX`.
/// Spec: RFC 7512, section 2.3. Others of its attributes are refused, `pin-value` among them: a secret does not belong into an argument.
public struct TokenAddress: Hashable, Sendable {
    /// The label of the token.
    public let token: [UInt8]
    /// The label of the key, both halves of it.
    public let object: [UInt8]
    /// The path of the module of the token's maker, from the root.
    public let module: String
    /// The path of the file with the PIN, from the root.
    public let pinFile: String
    /// The text that was read.
    public let encoded: [UInt8]

    /// Most bytes of an address.
    public static let maximumByteCount = 768

    /// Reads an address.
    ///
    /// - Throws: ``TokenAddressError``.
    public init(decoding text: [UInt8]) throws(TokenAddressError) {
        let scheme = Array("pkcs11:".utf8)
        guard text.count <= Self.maximumByteCount, text.starts(with: scheme) else { throw .notAnAddress }
        let halves = text.dropFirst(scheme.count).split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw .missing }
        let path = try Self.attributes(halves[0], separator: UInt8(ascii: ";"), names: ["token", "object"])
        let query = try Self.attributes(halves[1], separator: UInt8(ascii: "&"), names: ["module-path", "pin-source"])
        guard let token = path["token"], let object = path["object"], let module = query["module-path"],
            let source = query["pin-source"]
        else { throw .missing }
        let file = Array("file:".utf8)
        guard source.starts(with: file) else { throw .pinNotInAFile }
        guard (1...32).contains(token.count), !object.isEmpty else { throw .malformed }
        (self.token, self.object, encoded) = (token, object, text)
        (self.module, pinFile) = (try Self.path(module), try Self.path(source[file.count...]))
    }

    private static func path(_ bytes: some Collection<UInt8>) throws(TokenAddressError) -> String {
        guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0),
            let path = String(validating: bytes, as: UTF8.self)
        else { throw .relativePath }
        return path
    }

    private static func attributes(
        _ text: ArraySlice<UInt8>, separator: UInt8, names: [String]
    ) throws(TokenAddressError) -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for part in text.split(separator: separator, omittingEmptySubsequences: false) {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { throw .malformed }
            guard let name = names.first(where: { part[..<equals].elementsEqual($0.utf8) }) else {
                throw part[..<equals].elementsEqual("pin-value".utf8) ? .pinNotInAFile : .unknownAttribute
            }
            guard found.updateValue(try value(part[(equals + 1)...]), forKey: name) == nil else { throw .malformed }
        }
        return found
    }

    private static func value(_ text: ArraySlice<UInt8>) throws(TokenAddressError) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), text)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                guard isPlain(byte) else { throw .malformed }
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                rest.first != UInt8(ascii: "+")
            else { throw .malformed }
            rest = rest.dropFirst(2)
            bytes.append(decoded)
        }
        return bytes
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~:@!$'()*+,=/".utf8.contains(byte)
        }
    }
}

/// Why a text is not the address of a key in a token. The caller's mistake.
public enum TokenAddressError: Error, Hashable, Sendable {
    /// It does not begin with `pkcs11:`, or is too long.
    case notAnAddress
    /// One of the four attributes is missing.
    case missing
    /// An attribute occurs that has no meaning here.
    case unknownAttribute
    /// An attribute occurs twice, has no value, or has a character that must be encoded.
    case malformed
    /// A path does not begin at the root.
    case relativePath
    /// The PIN is in the address, or somewhere else than in a file.
    case pinNotInAFile
}
