// SPDX-License-Identifier: Apache-2.0

/// What a person gives to every contact of theirs, and by which two of the contacts see that they both know the person: 32 random bytes.
///
/// It is no name or number, nor a hash of one, so there is nothing to guess: only a contact has it, or somebody to whom a contact gave it.
public struct ContactToken: Hashable, Sendable {
    /// The length in bytes.
    public static let byteCount = 32
    /// The most tokens that one side puts in.
    public static let maximumCount = 2048

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// A new one.
    public static func fresh() -> ContactToken {
        ContactToken(unchecked: (0..<byteCount).map { _ in UInt8.random(in: 0...255) })
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// A token; nil for another length.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
