// SPDX-License-Identifier: Apache-2.0

#if canImport(CSodium)
    import CanonicalCoding
    import ConnectionLimits
    import Crypto
    package import KeyDirectory
    import KeyTransparency
    import NotesAPI
    import OPAQUE
    import SignetAPI

    // swift-crypto's boxes speak `Data`.
    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// What the front ends of one directory have in common for logins: each ends what another began, and all count together.
    package struct SharedLogins: Sendable {
        let sealing: SealingKeys
        let attemptKey: SymmetricKey
        let marks: any SharedMarks
        /// nil: each front end counts for itself.
        let attempts: (any AttemptCounter)?

        /// - Parameters:
        ///   - secret: what all front ends share.
        ///   - marks: remembers which logins were ended.
        ///   - attempts: counts guesses.
        package init(_ secret: FrontEndSecret, marks: any SharedMarks, attempts: (any AttemptCounter)?) {
            sealing = secret.keys(for: .login)
            attemptKey = secret.keys(for: .attempts).current
            self.marks = marks
            self.attempts = attempts
        }
    }

    /// A login between its two messages, as it is sealed to the client: no front end has to keep it.
    ///
    /// Wire form of a box: ChaCha20-Poly1305: 12-byte nonce, 410 bytes, 16-byte tag. In it, always of one length, so that it says nothing of
    /// the account: u64 end in seconds since 1970, 128 `PendingLogin`, u64 version of the keys that it gives out (0: there is nothing to log
    /// in to), 9 network, u8 loopback, u8 strange, u8 handle length, handle, zeros.
    struct SealedLogin: Sendable {
        private static let handleByteCount = 254
        static let byteCount = 8 + PendingLogin.byteCount + 8 + 9 + 1 + 1 + 1 + handleByteCount

        let end: UInt64
        let pending: PendingLogin
        let version: UInt64
        let attempt: LoginAttempts.Attempt

        func sealed(under key: SymmetricKey) throws -> [UInt8] {
            let (handle, client) = (attempt.place.handle.bytes, attempt.place.client)
            var writer = ByteWriter()
            writer.write(end)
            writer.write(pending.encoded)
            writer.write(version)
            writer.write(client.network)
            writer.write([client.isLoopback ? 1 : 0, attempt.isStrange ? 1 : 0])
            writer.write([UInt8(truncatingIfNeeded: handle.count)])
            writer.write(handle + [UInt8](repeating: 0, count: Self.handleByteCount - handle.count))
            return Array(try ChaChaPoly.seal(writer.bytes, using: key).combined)
        }

        init(end: UInt64, pending: PendingLogin, version: UInt64, attempt: LoginAttempts.Attempt) {
            self.end = end
            self.pending = pending
            self.version = version
            self.attempt = attempt
        }

        /// Opens a box; nil if none of these keys made it.
        init?(opening bytes: [UInt8], under keys: [SymmetricKey]) {
            guard let box = try? ChaChaPoly.SealedBox(combined: bytes),
                let content = keys.lazy.compactMap({ try? ChaChaPoly.open(box, using: $0) }).first,
                let login = try? SealedLogin(decoding: Array(content))
            else { return nil }
            self = login
        }

        private init(decoding bytes: [UInt8]) throws {
            var reader = ByteReader(bytes)
            end = try reader.uint64()
            let pending = PendingLogin(decoding: Array(try reader.bytes(PendingLogin.byteCount)))
            version = try reader.uint64()
            let network = Array(try reader.bytes(9))
            let marks = Array(try reader.bytes(2))
            let handle = try Handle(canonical: Array(reader.bytes(Int(reader.uint8()))))
            guard let pending, let client = ClientAddress(network: network, isLoopback: marks[0] == 1) else {
                throw PartRefusal(.badRequest)
            }
            self.pending = pending
            attempt = LoginAttempts.Attempt(
                place: LoginAttempts.Place(handle: handle, client: client), isStrange: marks[1] == 1)
        }
    }
#endif
