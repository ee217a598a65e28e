// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import KeyTransparency

/// Answers from a list; when it is used up, nobody is there.
actor ScriptedPresence: Presence {
    private var outcomes: [PresenceOutcome]
    private(set) var asked: [PresenceAction] = []

    init(_ outcomes: [PresenceOutcome]) { self.outcomes = outcomes }

    func answer(_ prompt: PresencePrompt) async -> PresenceOutcome {
        asked.append(prompt.action)
        return outcomes.isEmpty ? .declined : outcomes.removeFirst()
    }
}

/// Keys in memory, which are gone with the program. Can be told to fail.
actor MemoryKeystore: PrivateKeyStore {
    nonisolated let capabilities = PrivateKeyStoreCapabilities(
        isHardware: false, isExportable: true, isSynced: false, asksForPresence: false)
    private enum Held {
        case signing(P256.Signing.PrivateKey)
        case agreement(P256.KeyAgreement.PrivateKey)
        case edwards(Curve25519.Signing.PrivateKey)
        case secret(SymmetricKey)
    }
    private var held: [PrivateKeyName: Held] = [:]
    private(set) var uses: [PresenceAction] = []
    var failure: PrivateKeyStoreError?

    func fail(with failure: PrivateKeyStoreError?) { self.failure = failure }

    private func check() throws(PrivateKeyStoreError) { if let failure { throw failure } }

    func makeKey(_ kind: PrivateKeyKind, named name: PrivateKeyName) async throws(PrivateKeyStoreError) -> [UInt8] {
        try check()
        guard held[name] == nil else { throw .nameTaken }
        switch kind {
        case .p256Signing: held[name] = .signing(.init())
        case .p256Agreement: held[name] = .agreement(.init())
        case .ed25519Signing: held[name] = .edwards(.init())
        }
        return stored(name)?.publicKey ?? []
    }

    func key(named name: PrivateKeyName) async throws(PrivateKeyStoreError) -> StoredKey? {
        try check()
        return stored(name)
    }

    private func stored(_ name: PrivateKeyName) -> StoredKey? {
        switch held[name] {
        case .signing(let key):
            StoredKey(kind: .p256Signing, publicKey: Array(key.publicKey.compressedRepresentation))
        case .agreement(let key):
            StoredKey(kind: .p256Agreement, publicKey: Array(key.publicKey.compressedRepresentation))
        case .edwards(let key): StoredKey(kind: .ed25519Signing, publicKey: Array(key.publicKey.rawRepresentation))
        case .secret, nil: nil
        }
    }

    func names() async throws(PrivateKeyStoreError) -> [PrivateKeyName] {
        try check()
        return held.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    func sign(
        _ message: [UInt8], with name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> [UInt8] {
        try check()
        uses.append(grant.action)
        switch held[name] {
        case .signing(let key):
            guard let signature = try? key.signature(for: message) else { throw .unavailable }
            return Array(signature.rawRepresentation)
        case .edwards(let key):
            guard let signature = try? key.signature(for: message) else { throw .unavailable }
            return Array(signature)
        case nil: throw .noSuchKey
        default: throw .unsupported
        }
    }

    func agree(
        with publicKey: [UInt8], context: [UInt8], using name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey {
        try check()
        uses.append(grant.action)
        guard case .agreement(let key) = held[name] else { throw held[name] == nil ? .noSuchKey : .unsupported }
        guard let peer = try? P256.KeyAgreement.PublicKey(compressedRepresentation: publicKey),
            let shared = try? key.sharedSecretFromKeyAgreement(with: peer)
        else { throw .invalidInput }
        return shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: [UInt8](), sharedInfo: context, outputByteCount: 32)
    }

    func keep(_ secret: SymmetricKey, named name: PrivateKeyName) async throws(PrivateKeyStoreError) {
        try check()
        guard held[name] == nil else { throw .nameTaken }
        held[name] = .secret(secret)
    }

    func secret(
        named name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey {
        try check()
        uses.append(grant.action)
        guard case .secret(let secret) = held[name] else { throw .noSuchKey }
        return secret
    }

    func erase(_ name: PrivateKeyName) async throws(PrivateKeyStoreError) {
        try check()
        held[name] = nil
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func host(_ text: String, port: UInt16 = 443) throws -> VerifiedHost {
    try VerifiedHost(bytes(text), port: port, evidence: .tlsConnection)
}

extension P256.Signing.PrivateKey {
    var publicBytes: [UInt8] { Array(publicKey.compressedRepresentation) }
    func rawSignature(_ message: [UInt8]) throws -> [UInt8] { Array(try signature(for: message).rawRepresentation) }
}
