// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SecretMemory
public import SignetAPI
public import SignetClient
import TransparencyLog

/// A home folder in which an account, or another device of an account, is being made. Its keys are on the disk before anything
/// is sent, so that an interruption loses nothing: beginning again continues with the same keys.
public struct AccountBeginning: Sendable {
    /// The home.
    public let home: OpenHome
    /// The device's keys, opened.
    public let secrets: DeviceSecrets
    /// Whether the keys have just been made.
    public let isNew: Bool
    private let lock: HomeLock
    /// The directory file that was given; the folder's own may be of before or after a change of the directory's keys.
    private let given: DirectoryProfile

    /// Makes the keys, or opens the keys of an interrupted beginning.
    ///
    /// - Parameters:
    ///   - profile: the directory file, which the user received over a channel that the directory's server does not control.
    ///   - withIdentity: whether this is the account's first device.
    ///   - place: the place that is to hold a part of the keystore; nil for no place, or for the place that holds a part of
    ///     existing keys.
    ///   - passphrase: returns the passphrase: a new one, or that of the existing keys.
    /// - Throws: ``SignetError``, and any error that `passphrase` throws.
    public init(
        of handle: Handle, at profile: DirectoryProfile, in folder: HomeFolder, withIdentity: Bool = true,
        keysAt place: KeystorePlaceKind? = nil, surroundings: Surroundings = .system,
        passphrase: (_ isNew: Bool) throws -> SecretBytes
    ) throws {
        lock = try Self.lock(folder)
        given = profile
        if let keystore = try OpenHome.keystore(in: folder) {
            home = try OpenHome(folder, isBeginning: true, in: surroundings)
            try Self.check(home, keystore, handle, profile, withIdentity: withIdentity, place)
            secrets = try Self.open(keystore, in: folder, with: try passphrase(false))
            isNew = false
            return
        }
        let secret = try passphrase(true)
        do {
            let keystore: Keystore
            if let place {
                (keystore, secrets) = try Keystore.make(
                    for: handle, withIdentity: withIdentity, under: secret, at: folder.place(place))
            } else {
                secrets = try DeviceSecrets.generate(for: handle, withIdentity: withIdentity)
                keystore = try Keystore(sealing: secrets, under: secret)
            }
            try folder.setAsideStore(notOf: profile.trust)
            try folder.directory.replace(with: profile.encoded)
            try folder.keystore.create(keystore.encoded)
        } catch let error as KeystoreError {
            throw SignetError.keystore(error, path: folder.keystore.path)
        } catch let error as FileFault { throw SignetError.file(error, path: folder.path) }
        home = try OpenHome(folder, isBeginning: true, in: surroundings)
        isNew = true
    }

    /// Registers the account, and verifies that the log has it. Before anything is registered, a change of the directory's keys
    /// since its file was made is followed.
    ///
    /// - Parameter proof: what a directory asks for that does not register everybody; an invitation for a handle that the operator has
    ///   released; nil for nothing.
    /// - Returns: the account as the log has it; its version is above 1 if the handle was somebody else's before.
    /// - Throws: ``SignetError``: ``SignetError/isTaken(folder:by:)`` if the account was registered here before;
    ///   ``SignetError/handleTaken(keystore:directory:)``; ``SignetError/client(_:)`` with
    ///   ``SignetClient/ClientError/mayBeSuccession`` if the directory file does not fit the directory's log, and
    ///   ``SignetError/quorumWeakened`` if the user has to approve its new keys. The keys are kept in each of these cases.
    public func register(with proof: RegistrationProof? = nil) async throws(SignetError) -> LookupVerdict {
        let handle = secrets.handle
        let (isThere, home) = try await home.run { client throws(ClientError) in
            do throws(StoreError) { return try await client.store.pinnedPeer(handle) != nil } catch {
                throw ClientError.store(error)
            }
        }
        guard !isThere else { throw .isTaken(folder: home.folder.path, by: .sameAccount(handle)) }
        do throws(SignetError) {
            return try await trusting(home).run { client throws(ClientError) in
                try await client.createAccount(secrets, with: proof)
            }.value
        } catch {
            if case .client(.refused(.handleTaken, _)) = error, isNew { throw setAside() }
            throw error
        }
    }

    /// The home under the keys that the directory has now, which come after those of the folder's directory file and are those
    /// of the given one, or come after them. Nothing is registered yet.
    private func trusting(_ home: OpenHome) async throws(SignetError) -> OpenHome {
        let current: OpenHome
        do throws(SignetError) {
            current = try await home.run { client throws(ClientError) in try await client.checkTrust() }.home
        } catch { return try await taken(home, after: error) }
        if isGiven(current.profile.trust) { return current }
        let hasFollowed: Bool
        do throws(ClientError) { hasFollowed = try await current.client.hasFollowed(from: given.trust) } catch {
            throw .client(error)
        }
        guard hasFollowed else { throw .isTaken(folder: home.folder.path, by: .anotherDirectory) }
        return current
    }

    /// The home under the keys of the given directory file, which the user has brought because the directory no longer uses those
    /// of the folder's own. By giving it, the user has approved its witnesses.
    private func taken(_ home: OpenHome, after error: SignetError) async throws(SignetError) -> OpenHome {
        guard !isGiven(home.profile.trust) else { throw error }
        if case .quorumWeakened = error {
            guard let change = try await home.directoryKeyChange(), !change.holdsEvidence,
                isGiven(change.succession.trust)
            else { throw error }
            return try await home.follow(change, isApproved: true)
        }
        guard case .client(let fault) = error, fault.mayBeSuccession else { throw error }
        do throws(ClientError) { try await home.client.checkTrust(given.trust) } catch { throw .client(error) }
        do throws(FileFault) { try home.folder.directory.replace(with: given.encoded) } catch {
            throw .file(error, path: home.folder.directory.path)
        }
        return try home.reopened()
    }

    private func isGiven(_ trust: DirectoryTrust) -> Bool {
        HomeFolder.name(of: trust) == HomeFolder.name(of: given.trust)
    }

    /// A step that does not follow the directory's keys needs the folder's own directory file.
    ///
    /// - Throws: ``SignetError/isTaken(folder:by:)``.
    func checkGivenFile() throws(SignetError) {
        guard home.profile == given else { throw .isTaken(folder: home.folder.path, by: .anotherDirectory) }
    }

    /// The nonce that an ID token of OpenID Connect needs in order to be taken as a ``SignetAPI/RegistrationToken`` of this beginning.
    public var tokenNonce: String? {
        guard let log = home.profile.trust.policy.logs.first else { return nil }
        let nonce = RegistrationToken.nonce(
            origin: log.name.bytes, handle: secrets.handle, deviceKey: secrets.keys.signing)
        return String(decoding: nonce, as: UTF8.self)
    }

    /// Frees the folder for another handle but keeps the keys: a refusal proves nothing, and the directory might still log the
    /// account.
    private func setAside() -> SignetError {
        do {
            let (keystore, directory) = try home.folder.setAsideRefused()
            return .handleTaken(keystore: keystore, directory: directory)
        } catch { return .handleTakenAndKept(error, keystore: home.folder.keystore.path) }
    }

    private static func lock(_ folder: HomeFolder) throws(SignetError) -> HomeLock {
        let lock: HomeLock?
        do {
            try folder.prepare()
            lock = try folder.lock()
        } catch { throw .file(error, path: folder.path) }
        guard let lock else { throw .isBeingMade(folder: folder.path) }
        return lock
    }

    /// Only a beginning of the same account is continued.
    private static func check(
        _ home: OpenHome, _ keystore: Keystore, _ handle: Handle, _ profile: DirectoryProfile, withIdentity: Bool,
        _ place: KeystorePlaceKind?
    ) throws(SignetError) {
        let folder = home.folder.path
        // A file of before or after a change of the directory's keys is compared with the log before anything is registered.
        guard keystore.handle != handle || home.profile.url == profile.url else {
            throw .isTaken(folder: folder, by: .anotherDirectory)
        }
        guard keystore.handle != handle || keystore.identityKey != nil || !withIdentity else {
            throw .isTaken(folder: folder, by: .linkedDevice(handle))
        }
        guard keystore.handle == handle, (keystore.identityKey != nil) == withIdentity else {
            throw .isTaken(folder: folder, by: .account(keystore.handle))
        }
        guard place == nil || place == keystore.place else {
            throw .isTaken(folder: folder, by: .keysElsewhere(handle))
        }
    }

    static func open(
        _ keystore: Keystore, in folder: HomeFolder, with passphrase: SecretBytes
    ) throws(SignetError) -> DeviceSecrets {
        do { return try folder.open(keystore, with: passphrase) } catch {
            throw .keystore(error, path: folder.keystore.path)
        }
    }
}
