// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// The second secret of a login, which the server never gets in any form: 128 random bits, as 7 groups of five letters and digits
/// (``PrintedGroups``). With it the password is no longer all that stands between the server's operator and the notes.
///
/// Security: wiped when the last copy goes; prints nothing by itself. A thief of it still needs the password.
public struct LoginKey: Sendable {
    /// Groups of five characters.
    public static let groupCount = 7
    private static let printed = PrintedGroups(byteCount: 16, count: groupCount)
    private static let format = Array("signet-login-key/v1\n".utf8)

    private let secret: SymmetricKey

    /// A new key from the system's random source.
    public static func generate() -> LoginKey { LoginKey(secret: SymmetricKey(size: .bits128)) }

    init(secret: SymmetricKey) { self.secret = secret }

    /// Takes what a person typed: small letters, `O` for 0, `I` and `L` for 1; spaces and `-` are ignored.
    ///
    /// - Throws: ``PrintedKeyError``.
    public init(typed text: [UInt8]) throws(PrintedKeyError) { secret = try Self.printed.secret(typed: text) }

    /// What takes the password's place in a login: 64 bytes, HMAC-SHA-512 under the key of `signet-login-key/v1`, LF and the password.
    public func mixed(with password: UnsafeRawBufferPointer) -> SymmetricKey {
        var code = HMAC<SHA512>(key: secret)
        code.update(data: Self.format)
        code.update(data: password)
        return SymmetricKey(data: code.finalize())
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
