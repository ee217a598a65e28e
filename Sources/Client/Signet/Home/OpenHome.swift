// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import PinnedHTTP
public import SignetAPI
public import SignetClient
import TransparencyLog

/// An open home folder: its directory, its store, its keystore if there is one, and a client over them.
///
/// The rules that keep a user safe between two requests are here: a home with keys also has a memory of what was verified, a
/// change of the directory's keys is followed only if it weakens nothing, and the user's own account is checked daily
/// (``check()``).
public struct OpenHome: Sendable {
    /// The folder.
    public let folder: HomeFolder
    /// The directory in use.
    public let profile: DirectoryProfile
    /// The account's sealed keys; nil without an account, and when another directory than the home's is in use.
    public let keystore: Keystore?
    /// Sends requests, verifies the answers and remembers them.
    public let client: Client<SQLiteStore>
    /// The path of the client's store.
    public let storePath: String
    /// Whether another directory than the home's own is in use.
    public let isGuest: Bool
    let surroundings: Surroundings

    /// Opens an existing home folder.
    ///
    /// - Parameters:
    ///   - directory: a directory file to use instead of the home folder's. Without an account, this file is enough to look
    ///     people up. A directory other than the home's has a separate store, and there the user has no account.
    ///   - isBeginning: whether an account is being made here, which may have only its keys so far.
    /// - Throws: ``SignetError`` about the home folder.
    public init(
        _ folder: HomeFolder, directory: DurableFile? = nil, isBeginning: Bool = false,
        in surroundings: Surroundings = .system
    ) throws(SignetError) {
        self.folder = folder
        self.surroundings = surroundings
        let file = directory ?? folder.directory
        guard directory != nil || file.exists else { throw .noAccount(folder: folder.path) }
        do { profile = try HomeFolder.profile(in: file) } catch { throw .directoryFile(error, path: file.path) }
        do { try folder.prepare() } catch { throw .file(error, path: folder.path) }
        isGuest = directory != nil && !folder.isBound(to: profile.trust)
        storePath = isGuest ? folder.storePath(of: profile.trust) : folder.storePath
        if isGuest { try Self.keep(profile, in: folder.guestProfile(of: profile.trust)) }
        keystore = isGuest ? nil : try Self.keystore(in: folder)
        if keystore != nil, !isBeginning { try Self.checkMemory(storePath) }
        client = try Self.client(storePath, profile, keystore, reports: folder.reports, in: surroundings)
    }

    /// The home after its directory file was replaced.
    func reopened() throws(SignetError) -> OpenHome { try OpenHome(folder, in: surroundings) }

    /// The keystore of a folder; nil if it has none.
    ///
    /// - Throws: ``SignetError/file(_:path:)``, ``SignetError/keystore(_:path:)``.
    public static func keystore(in folder: HomeFolder) throws(SignetError) -> Keystore? {
        guard folder.keystore.exists else { return nil }
        let bytes: [UInt8]
        do { bytes = try folder.keystore.read(maximumByteCount: Keystore.maximumByteCount, isSecret: true) } catch {
            throw .file(error, path: folder.keystore.path)
        }
        do { return try Keystore(decoding: bytes) } catch { throw .keystore(error, path: folder.keystore.path) }
    }

    /// A home with keys must have a memory: an empty file in its place has lost the record of whom the user knows, and any key
    /// would be believed.
    private static func checkMemory(_ path: String) throws(SignetError) {
        func byteCount(_ path: String) -> UInt64? {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.size].flatMap { ($0 as? NSNumber)?.uint64Value }
        }
        guard byteCount(path) == 0, byteCount(path + "-wal") ?? 0 == 0 else { return }
        throw .memoryLost(path: path)
    }

    private static func keep(_ profile: DirectoryProfile, in file: DurableFile) throws(SignetError) {
        guard !file.exists else { return }
        do { try file.replace(with: profile.encoded) } catch { throw .file(error, path: file.path) }
    }

    static func client(
        _ storePath: String, _ profile: DirectoryProfile, _ keystore: Keystore?, reports: DurableFile,
        in surroundings: Surroundings
    ) throws(SignetError) -> Client<SQLiteStore> {
        let store: SQLiteStore
        let floored: Surroundings
        do throws(StoreError) {
            store = try SQLiteStore.open(at: storePath, of: profile.trust.policy.logs.first?.name)
            floored = surroundings.notBefore(try store.newestTime())
        } catch { throw .store(error, path: storePath) }
        let transport: NIOTransport
        do throws(TransportError) {
            let spool = ReportSpool(reports)
            let connector = try profile.connector(in: floored) { report in
                // A failure to store the report does not change the refusal.
                _ = try? spool.add(report)
            }
            transport = NIOTransport(to: try ServerAddress(profile.url), through: connector)
        } catch { throw .address(error, url: profile.url) }
        do {
            return try Client(
                of: profile, over: transport, remembering: store,
                owner: keystore.map {
                    .init(handle: $0.handle, deviceKey: $0.keys.signing, identityKey: $0.identityKey)
                }, in: floored)
        } catch { throw .profile(error, url: profile.url) }
    }
}
