// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    package import Crypto

    /// What a server needs of a login between its two messages.
    ///
    /// Security: whoever has it can pass for the client of this one login. It leaves the process sealed only.
    package struct PendingLogin: Sendable {
        /// The length of ``encoded``, in bytes.
        package static let byteCount = 128
        private let expected: SymmetricKey
        private let sessionKey: SymmetricKey

        init(expected: SymmetricKey, sessionKey: SymmetricKey) {
            self.expected = expected
            self.sessionKey = sessionKey
        }

        /// Takes ``encoded``; nil: another length.
        package init?(decoding bytes: [UInt8]) {
            guard bytes.count == Self.byteCount else { return nil }
            self.init(
                expected: SymmetricKey(data: bytes.prefix(64)), sessionKey: SymmetricKey(data: bytes.suffix(64)))
        }

        /// 64 bytes of the expected MAC, 64 of the session's key.
        package var encoded: [UInt8] {
            expected.withUnsafeBytes { Array($0) } + sessionKey.withUnsafeBytes { Array($0) }
        }

        /// The session's key, 64 bytes, if the client knew the password.
        ///
        /// - Throws: ``OPAQUEError/clientNotAuthentic``.
        package func finish(_ proof: LoginProof) throws(OPAQUEError) -> SymmetricKey {
            // SymmetricKey compares in constant time.
            guard SymmetricKey(data: proof.encoded) == expected else { throw .clientNotAuthentic }
            return sessionKey
        }
    }
#endif
