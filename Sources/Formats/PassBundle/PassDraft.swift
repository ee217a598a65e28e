// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto
public import StrictJSON

/// A card for the wallet of a telephone, before it is signed: its contents, its pictures, and a manifest of both.
///
/// Spec: Apple, "Building a Pass" (Wallet Passes): a ZIP archive of `pass.json`, pictures, `manifest.json` with SHA-1 of each file in
/// hexadecimal digits, and `signature`, a detached CMS signature of the manifest.
///
/// Security: the signature covers the manifest and nothing else, and the manifest names the files by SHA-1, for which collisions are known: whoever makes
/// a bundle can make two of one manifest. So a signature says who asked for a card, not what is on it.
public struct PassDraft: Sendable {
    /// The longest file, in bytes.
    public static let maximumByteCount = 1 << 20
    /// The most files, besides `pass.json`, the salt, the manifest and the signature.
    public static let maximumFileCount = 16

    /// The manifest, which is to be signed: JSON, the names in rising order.
    public let manifest: [UInt8]
    private let files: [(name: String, bytes: [UInt8])]

    /// A bundle of a pass and its pictures.
    ///
    /// - Parameters:
    ///   - pass: what `pass.json` says.
    ///   - pictures: PNG, by name, such as `icon.png`.
    ///   - salt: 32 random bytes, which become a file. Without them, whoever sees the digest of the manifest could try out what is on
    ///     the card, and would recognise a card that is made again.
    /// - Throws: ``PassDraftFault``: a mistake of the caller.
    public init(pass: JSONObject, pictures: [String: [UInt8]], salt: [UInt8]) throws(PassDraftFault) {
        guard salt.count == 32 else { throw .salt }
        guard pictures.count <= Self.maximumFileCount else { throw .tooMany }
        for (name, bytes) in pictures {
            guard Self.isPicture(name) else { throw .name(name) }
            guard bytes.count <= Self.maximumByteCount else { throw .tooLong(name) }
        }
        let text = pass.encoded
        guard text.count <= Self.maximumByteCount else { throw .tooLong("pass.json") }
        let all = pictures.merging(["pass.json": text, "salt": salt]) { first, _ in first }
        files = all.sorted { $0.key < $1.key }.map { (name: $0.key, bytes: $0.value) }
        let digests = files.map { file in
            let digest = Hex.encode(Array(Insecure.SHA1.hash(data: file.bytes)))
            return (JSONText(file.name), JSONText(utf8: digest).map(JSONValue.string) ?? .null)
        }
        manifest = JSONObject(Dictionary(digests) { first, _ in first }).encoded
    }

    /// SHA-256 of the manifest, 32 bytes: all that the one who signs has to see.
    public var digest: SHA256Digest { SHA256.hash(data: manifest) }

    /// The archive (`.pkpass`, `application/vnd.apple.pkpass`).
    ///
    /// - Parameter signature: of the manifest, detached CMS, DER.
    public func signed(with signature: [UInt8]) -> [UInt8] {
        StoredArchive.encoded(files + [("manifest.json", manifest), ("signature", signature)])
    }

    /// `icon.png`, `icon@2x.png`.
    private static func isPicture(_ name: String) -> Bool {
        name.hasSuffix(".png") && (5...64).contains(name.utf8.count) && name.first != "."
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || [UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: "-")].contains(byte)
            }
    }
}

/// Why a bundle cannot be made: a mistake of the caller.
public enum PassDraftFault: Error, Hashable, Sendable {
    /// The salt does not have 32 bytes.
    case salt
    /// There are more than ``PassDraft/maximumFileCount`` pictures.
    case tooMany
    /// A picture's name has other characters than `a` to `z`, `0` to `9`, `.`, `@` and `-`, begins with a dot, or does not end with `.png`.
    case name(String)
    /// A file is longer than ``PassDraft/maximumByteCount``.
    case tooLong(String)
}
