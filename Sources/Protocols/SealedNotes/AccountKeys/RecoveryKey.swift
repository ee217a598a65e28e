// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The key that a person prints and keeps safe: 256 random bits, as 13 groups of five letters and digits (``PrintedGroups``).
///
/// Security: wiped when the last copy goes; prints nothing by itself. A holder of the printed key and the account's row
/// at the server can open everything.
public struct RecoveryKey: Sendable {
    /// Groups of five characters.
    public static let groupCount = 13
    private static let printed = PrintedGroups(byteCount: 32, count: groupCount)

    private let secret: SymmetricKey

    /// A new key from the system's random source.
    public static func generate() -> RecoveryKey { RecoveryKey(secret: SymmetricKey(size: .bits256)) }

    init(secret: SymmetricKey) { self.secret = secret }

    /// Takes what a person typed: small letters, `O` for 0, `I` and `L` for 1; spaces and `-` are ignored.
    ///
    /// - Throws: ``PrintedKeyError``.
    public init(typed text: [UInt8]) throws(PrintedKeyError) { secret = try Self.printed.secret(typed: text) }

    /// Under which the account master key is sealed.
    var wrapKey: SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret, info: Array("signet-recovery-wrap/v1".utf8), outputByteCount: 32)
    }

    /// Lends the printed form, ASCII.
    ///
    /// - Throws: any error that `use` throws.
    ///
    /// Security: code that copies the text must protect it.
    public func withPrinted<Result, Failure: Error>(
        _ use: ([UInt8]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try use(Self.printed.text(of: secret))
    }
}
