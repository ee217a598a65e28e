// SPDX-License-Identifier: Apache-2.0

/// The name by which people find each other: `alice@example.org`, lower-case ASCII.
///
/// A handle has one spelling, so that one person has one label in the log: 3 to 254 bytes; before the
/// `@` 1 to 64 of `a-z 0-9 . _ + -`; after it DNS labels of `a-z 0-9 -`, none of them starting or
/// ending with `-`.
public struct Handle: Hashable, Sendable {
    /// The longest handle, in bytes (RFC 5321, section 4.5.3.1.3, less the angle brackets).
    public static let maximumByteCount = 254

    /// The canonical spelling.
    public let bytes: [UInt8]

    /// Takes what a person typed; upper-case ASCII letters become lower-case.
    ///
    /// - Throws: ``HandleError``: not a handle in any spelling.
    public init(typed text: [UInt8]) throws(HandleError) {
        try self.init(
            canonical: text.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 })
    }

    /// Takes what another program sent; only the canonical spelling.
    ///
    /// - Throws: ``HandleError``: not a handle, or not in its one spelling.
    public init(canonical bytes: [UInt8]) throws(HandleError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        let parts = bytes.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .notOneAtSign }
        guard (1...64).contains(parts[0].count), parts[0].allSatisfy(Self.isLocalCharacter) else {
            throw .invalidLocalPart
        }
        let labels = parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy(Self.isDomainLabel) else { throw .invalidDomain }
        self.bytes = bytes
    }

    /// What the VRF hashes: `signet-label/v1`, LF, the handle. The prefix keeps the key's outputs apart
    /// from those of any other use of it.
    public var vrfInput: [UInt8] { Array("signet-label/v1\n".utf8) + bytes }

    private static func isLocalCharacter(_ character: UInt8) -> Bool {
        isLetterOrDigit(character) || Array("._+-".utf8).contains(character)
    }

    private static func isDomainLabel(_ label: ArraySlice<UInt8>) -> Bool {
        (1...63).contains(label.count)
            && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
            && label.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isLetterOrDigit(_ character: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
    }
}

extension Handle: CustomStringConvertible {
    /// The handle as text; it is ASCII.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// Why a text is not a handle. The caller has to correct it.
public enum HandleError: Error, Hashable, Sendable {
    /// More than 254 bytes.
    case tooLong(Int)
    /// None or several `@`.
    case notOneAtSign
    /// The part before the `@` is empty, too long, or has a character outside `a-z 0-9 . _ + -`.
    case invalidLocalPart
    /// The part after the `@` is not a sequence of DNS labels.
    case invalidDomain
}
