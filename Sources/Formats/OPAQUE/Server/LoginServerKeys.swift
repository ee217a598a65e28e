// SPDX-License-Identifier: Apache-2.0

import SecretMemory

#if canImport(CSodium)
    import Crypto

    /// The server's long-term secrets: OPRF seed and key pair. Kept apart from the database of records.
    ///
    /// Security: the seed together with the records lets its thief guess passwords, at the price of one stretching each;
    /// either alone does not. Neither opens anything that an export key seals.
    public struct LoginServerKeys: Sendable {
        /// Bytes of the secret form: seed 64, private key 32.
        public static let byteCount = 96
        /// What clients register with, 32 bytes.
        public var publicKey: [UInt8] { element.bytes }

        let element: GroupElement
        let scalar: GroupScalar
        /// The answer to logins of accounts that do not exist rests on this.
        let decoy: RegistrationRecord
        private let seed: SymmetricKey

        /// New keys from the system's random source.
        ///
        /// - Throws: ``OPAQUEError/unavailable``.
        public static func generate() throws(OPAQUEError) -> LoginServerKeys {
            guard sodiumIsReady else { throw .unavailable }
            return try LoginServerKeys(seed: SymmetricKey(size: SymmetricKeySize(bitCount: 512)), scalar: GroupScalar())
        }

        /// Reads the secret form, ``byteCount`` bytes.
        ///
        /// - Throws: ``OPAQUEError/malformed``.
        ///
        /// Security: copies; wipe the memory behind `bytes` afterwards.
        public init(decoding bytes: Span<UInt8>) throws(OPAQUEError) {
            guard sodiumIsReady else { throw .unavailable }
            guard bytes.count == Self.byteCount, let scalar = GroupScalar(bytes.extracting(64..<96)) else {
                throw .malformed
            }
            let seed = bytes.extracting(0..<64).withUnsafeBytes { SymmetricKey(data: $0) }
            try self.init(seed: seed, scalar: scalar)
        }

        private init(seed: SymmetricKey, scalar: GroupScalar) throws(OPAQUEError) {
            guard let element = GroupElement.generatorTimes(scalar) else { throw .unavailable }
            self.seed = seed
            self.scalar = scalar
            self.element = element
            decoy = try Self.decoy(seed)
        }

        /// Lends the secret form.
        ///
        /// - Throws: any error that `body` throws.
        ///
        /// Security: code that copies the bytes must protect and wipe the copy.
        public func withEncoded<Result, Failure: Error>(
            _ body: (Span<UInt8>) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let bytes = WipedBytes(count: Self.byteCount)
            return try bytes.withPointer { pointer throws(Failure) in
                seed.withUnsafeBytes { for (index, byte) in $0.enumerated() { pointer[index] = byte } }
                scalar.withBytes { (pointer + 64).update(from: $0, count: GroupScalar.byteCount) }
                return try body(Span(_unsafeStart: UnsafePointer(pointer), count: Self.byteCount))
            }
        }

        /// The OPRF key of an account.
        func evaluate(_ blinded: GroupElement, for credential: [UInt8]) throws(OPAQUEError) -> GroupElement {
            let scalar = try ObliviousFunction.keyPair(
                seed: Expansion.expand(seed, credential, "OprfKey", 32), purpose: "OPAQUE-DeriveKeyPair"
            ).scalar
            guard let evaluated = blinded.times(scalar) else { throw .unavailable }
            return evaluated
        }

        /// A record that no password opens: a key whose private half is thrown away, and an envelope of zeros.
        ///
        /// Spec: RFC 9807, section 10.9.
        private static func decoy(_ seed: SymmetricKey) throws(OPAQUEError) -> RegistrationRecord {
            let client = try ObliviousFunction.keyPair(
                seed: Expansion.expand(seed, [], "SignetDecoyKey", 32), purpose: "SignetDecoyKeyPair"
            ).element
            let maskingKey = Expansion.expand(seed, [], "SignetDecoyMaskingKey", 64)
            return RegistrationRecord(
                client: client, maskingKey: maskingKey.withUnsafeBytes { Array($0) },
                envelope: Envelope([UInt8](repeating: 0, count: Envelope.byteCount)))
        }
    }
#endif
