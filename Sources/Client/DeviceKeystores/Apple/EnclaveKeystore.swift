// SPDX-License-Identifier: Apache-2.0

#if canImport(Security) && canImport(Darwin)
    public import Crypto
    public import DeviceIdentity
    import Foundation
    import Security

    /// Keys in the Secure Enclave, secrets in the Keychain, both of this device only: they are in no backup and on no other
    /// device, and each use asks for Face ID, Touch ID or the passcode.
    ///
    /// Security: a person who enrols another face or finger keeps the keys, since the passcode opens them too; who takes the
    /// passcode off loses them for good (``PrivateKeyStoreError/invalidated``).
    public struct EnclaveKeystore: PrivateKeyStore {
        /// The chip lets no key out.
        public let capabilities = PrivateKeyStoreCapabilities(
            isHardware: true, isExportable: false, isSynced: false, asksForPresence: true)

        private let store: String

        /// A store.
        ///
        /// - Parameter store: which one of the app's; part of every item's tag.
        public init(named store: String) { self.store = store }

        /// Makes a key under a name that is free; Ed25519 is not to be had.
        public func makeKey(
            _ kind: PrivateKeyKind, named name: PrivateKeyName
        ) async throws(PrivateKeyStoreError) -> [UInt8] {
            guard kind != .ed25519Signing else { throw .unsupported }
            guard try find(name, asKey: true) == nil, try find(name, asKey: false) == nil else { throw .nameTaken }
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom as String,
                kSecAttrKeySizeInBits as String: 256,
                kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave as String,
                kSecPrivateKeyAttrs as String: [
                    kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: tag(name),
                    kSecAttrLabel as String: kind == .p256Signing ? "signing" : "agreement",
                    kSecAttrAccessControl as String: try accessControl(.privateKeyUsage),
                ] as [String: Any],
            ]
            guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, nil) else { throw .unavailable }
            return try publicKey(of: key)
        }

        /// Kind and public key.
        public func key(named name: PrivateKeyName) async throws(PrivateKeyStoreError) -> StoredKey? {
            guard let key = try secKey(name) else { return nil }
            return StoredKey(kind: kind(of: key), publicKey: try publicKey(of: key))
        }

        /// All names, in order.
        public func names() async throws(PrivateKeyStoreError) -> [PrivateKeyName] {
            var names: Set<PrivateKeyName> = []
            for isKey in [true, false] {
                var query = query(nil, asKey: isKey)
                query[kSecMatchLimit as String] = kSecMatchLimitAll as String
                query[kSecReturnAttributes as String] = true
                var found: CFTypeRef?
                let status = SecItemCopyMatching(query as CFDictionary, &found)
                guard status == errSecSuccess || status == errSecItemNotFound else { throw error(status) }
                for item in found as? [[String: Any]] ?? [] {
                    let tag = item[(isKey ? kSecAttrApplicationTag : kSecAttrAccount) as String]
                    if let tag = tag as? Data, let name = name(ofTag: tag) { names.insert(name) }
                    if let text = tag as? String, let name = name(ofTag: Data(text.utf8)) { names.insert(name) }
                }
            }
            return names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        }

        /// Signs.
        public func sign(
            _ message: [UInt8], with name: PrivateKeyName, _ grant: consuming PresenceGrant
        ) async throws(PrivateKeyStoreError) -> [UInt8] {
            guard let key = try secKey(name) else { throw .noSuchKey }
            guard kind(of: key) == .p256Signing else { throw .unsupported }
            let signed = SecKeyCreateSignature(
                key, SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256, Data(message) as CFData, nil)
            guard let signed, let signature = try? P256.Signing.ECDSASignature(derRepresentation: signed as Data) else {
                throw .locked
            }
            return Array(signature.rawRepresentation)
        }

        /// Agrees on a key.
        public func agree(
            with publicKey: [UInt8], context: [UInt8], using name: PrivateKeyName, _ grant: consuming PresenceGrant
        ) async throws(PrivateKeyStoreError) -> SymmetricKey {
            guard let key = try secKey(name) else { throw .noSuchKey }
            guard kind(of: key) == .p256Agreement else { throw .unsupported }
            guard let peer = try? P256.KeyAgreement.PublicKey(compressedRepresentation: publicKey) else {
                throw .invalidInput
            }
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom as String,
                kSecAttrKeyClass as String: kSecAttrKeyClassPublic as String,
            ]
            guard let other = SecKeyCreateWithData(peer.x963Representation as CFData, attributes as CFDictionary, nil)
            else { throw .invalidInput }
            let shared = SecKeyCopyKeyExchangeResult(
                key, SecKeyAlgorithm.ecdhKeyExchangeStandard, other, [String: Any]() as CFDictionary, nil)
            guard let shared else { throw .locked }
            return HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: shared as Data), salt: [UInt8](), info: context,
                outputByteCount: 32)
        }

        /// Keeps a secret.
        public func keep(
            _ secret: SymmetricKey, named name: PrivateKeyName
        ) async throws(PrivateKeyStoreError) {
            guard (16...64).contains(secret.bitCount / 8) else { throw .invalidInput }
            guard try find(name, asKey: true) == nil else { throw .nameTaken }
            var item = query(name, asKey: false)
            item[kSecValueData as String] = secret.withUnsafeBytes { Data($0) }
            item[kSecAttrAccessControl as String] = try accessControl([])
            let status = SecItemAdd(item as CFDictionary, nil)
            guard status == errSecSuccess else { throw error(status) }
        }

        /// Gives a secret back.
        public func secret(
            named name: PrivateKeyName, _ grant: consuming PresenceGrant
        ) async throws(PrivateKeyStoreError) -> SymmetricKey {
            if try find(name, asKey: true) != nil { throw .unsupported }
            var query = query(name, asKey: false)
            query[kSecReturnData as String] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status == errSecSuccess else { throw error(status) }
            guard let data = found as? Data else { throw .damaged }
            return SymmetricKey(data: data)
        }

        /// Erases.
        public func erase(_ name: PrivateKeyName) async throws(PrivateKeyStoreError) {
            for isKey in [true, false] {
                let status = SecItemDelete(query(name, asKey: isKey) as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else { throw error(status) }
            }
        }
    }

    extension EnclaveKeystore {
        private var prefix: String { "signet." + store + "." }

        private func tag(_ name: PrivateKeyName) -> Data { Data(prefix.utf8) + Data(name.bytes) }

        private func name(ofTag tag: Data) -> PrivateKeyName? {
            guard tag.starts(with: prefix.utf8) else { return nil }
            return PrivateKeyName(stored: Array(tag.dropFirst(prefix.utf8.count)))
        }

        /// One item, or all when there is no name.
        private func query(_ name: PrivateKeyName?, asKey isKey: Bool) -> [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: (isKey ? kSecClassKey : kSecClassGenericPassword) as String
            ]
            if isKey { query[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave as String }
            if !isKey { query[kSecAttrService as String] = "signet" }
            if let name, isKey { query[kSecAttrApplicationTag as String] = tag(name) }
            if let name, !isKey {
                query[kSecAttrAccount as String] = String(decoding: tag(name), as: UTF8.self)
            }
            return query
        }

        private func find(_ name: PrivateKeyName, asKey isKey: Bool) throws(PrivateKeyStoreError) -> CFTypeRef? {
            var query = query(name, asKey: isKey)
            query[(isKey ? kSecReturnRef : kSecReturnAttributes) as String] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess else { throw error(status) }
            return found
        }

        private func secKey(_ name: PrivateKeyName) throws(PrivateKeyStoreError) -> SecKey? {
            guard let found = try find(name, asKey: true) else { return nil }
            guard CFGetTypeID(found) == SecKeyGetTypeID() else { throw .damaged }
            // trap: the type was compared on the line before
            return unsafeDowncast(found, to: SecKey.self)
        }

        private func kind(of key: SecKey) -> PrivateKeyKind {
            let attributes = SecKeyCopyAttributes(key) as AnyObject? as? [String: Any]
            return attributes?[kSecAttrLabel as String] as? String == "agreement" ? .p256Agreement : .p256Signing
        }

        private func publicKey(of key: SecKey) throws(PrivateKeyStoreError) -> [UInt8] {
            guard let publicKey = SecKeyCopyPublicKey(key),
                let data = SecKeyCopyExternalRepresentation(publicKey, nil),
                let point = try? P256.Signing.PublicKey(x963Representation: data as Data)
            else { throw .damaged }
            return Array(point.compressedRepresentation)
        }

        private func accessControl(
            _ flags: SecAccessControlCreateFlags
        ) throws(PrivateKeyStoreError) -> SecAccessControl {
            let control = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, [flags, .userPresence], nil)
            guard let control else { throw .absent }
            return control
        }

        private func error(_ status: OSStatus) -> PrivateKeyStoreError {
            switch status {
            case errSecItemNotFound: .noSuchKey
            case errSecDuplicateItem: .nameTaken
            case errSecInteractionNotAllowed, errSecUserCanceled: .locked
            case errSecAuthFailed: .invalidated
            case errSecNotAvailable: .absent
            default: .unavailable
            }
        }
    }
#endif
