// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import KeyTransparency
import Platform
public import SignetAPI
import TransparencyLog
import VRF

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The home of one account of one user on this device: a folder that only its owner may enter.
///
/// | file | what |
/// |---|---|
/// | `directory` | the ``DirectoryProfile``, as it was handed over |
/// | `keystore` | the device's private keys, sealed under the passphrase |
/// | `store.sqlite` | what was verified and accepted; evidence |
/// | `store-….sqlite`, `directory-…` | the same for another directory that was only used for lookups |
/// | `pin-reports` | connections in which no key was pinned |
/// | `rings` | which rings of calls were received |
/// | `site-keys`, `sites`, `cards`, `card-tokens` | keys for sites and cards, and sealed lists: sites, cards of issuers, tokens for wallet cards |
/// | `business-card` | the user's own business card, with what it can show |
/// | `met-contacts` | tokens and cards of people who were met, sealed |
/// | `tpm` | what a chip has wrapped, if it holds a part of the keystore |
/// | `keystore.refused`, `directory.refused` | keys of an account that the directory would not register |
public struct HomeFolder: Sendable {
    /// The folder.
    public let path: String

    /// The folder at a path, which need not exist.
    public init(path: String) { self.path = path }

    /// The sealed private keys.
    public var keystore: DurableFile { DurableFile(path: path + "/keystore") }
    /// The profile of the directory at which this account is registered.
    public var directory: DurableFile { DurableFile(path: path + "/directory") }
    /// Reports of connections in which no key was pinned: ``ReportSpool``.
    public var reports: DurableFile { DurableFile(path: path + "/pin-reports") }
    /// The rings that were received.
    public var rings: DurableFile { DurableFile(path: path + "/rings") }
    /// The user's own business card, for the user alone.
    public var businessCard: DurableFile { DurableFile(path: path + "/business-card") }
    /// The SQLite file of ``SQLiteStore``.
    public var storePath: String { path + "/store.sqlite" }

    /// Makes the folder with mode 0700, and its parents, unless it exists.
    ///
    /// - Throws: ``FileFault``: ``FileFault/openToOthers`` if other users may enter an existing folder.
    public func prepare() throws(FileFault) {
        if let status = FileStatus(of: path) {
            guard status.isFolder else { throw .notADirectory }
            guard !status.isOpenToOthers else { throw .openToOthers }
            return
        }
        var end = path.startIndex
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            guard mkdir(String(path[..<end]), 0o700) == 0 || errno == EEXIST else { throw .last }
        }
    }

    /// Names a directory by what is pinned about it: the first 16 hex digits of the SHA-256 of its VRF key and its policy, log
    /// keys included. A directory that was set up again has another name, even under the same origin.
    public static func name(of trust: DirectoryTrust) -> String {
        let digest = SHA256.hash(data: trust.vrfKey.bytes + trust.policy.encoded)
        return String(decoding: Hex.encode(Array(digest.prefix(8))), as: UTF8.self)
    }

    /// Whether the home's own directory file names this directory.
    public func isBound(to trust: DirectoryTrust) -> Bool {
        guard let own = try? profile() else { return false }
        return Self.name(of: own.trust) == Self.name(of: trust)
    }

    /// The path of this directory's SQLite file: the home's own file, or a file for this directory alone.
    public func storePath(of trust: DirectoryTrust) -> String {
        isBound(to: trust) ? storePath : path + "/store-\(Self.name(of: trust)).sqlite"
    }

    /// The stored profile of a directory that is not the home's own, for its evidence.
    public func guestProfile(of trust: DirectoryTrust) -> DurableFile {
        DurableFile(path: path + "/directory-" + Self.name(of: trust))
    }

    /// Every store in the folder, with its profile if that exists: the home's own store first.
    public var stores: [(path: String, profile: DurableFile, name: String?)] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let own = files.contains("store.sqlite") ? [(storePath, directory, String?.none)] : []
        let guests = files.filter { $0.hasPrefix("store-") && $0.hasSuffix(".sqlite") }.sorted()
        return own
            + guests.map { file in
                let name = String(file.dropFirst("store-".count).dropLast(".sqlite".count))
                return (path + "/" + file, DurableFile(path: path + "/directory-" + name), name)
            }
    }

    /// Moves the keys and the directory file of a refused account aside. They are not deleted, because a refusal proves nothing
    /// and there is no other copy of the keys.
    ///
    /// - Returns: the new paths of the keystore and the directory file.
    /// - Throws: ``FileFault``: the keystore was not moved.
    public func setAsideRefused() throws(FileFault) -> (keystore: String, directory: String) {
        for number in 1... {
            let suffix = number == 1 ? ".refused" : ".refused.\(number)"
            let (keys, profile) = (keystore.path + suffix, directory.path + suffix)
            guard !DurableFile(path: profile).exists, try Self.move(keystore.path, to: keys) else { continue }
            guard try Self.move(directory.path, to: profile) else { throw .exists }
            return (keys, profile)
        }
        throw .exists
    }

    /// Removes keys that were made for an account which the log proves not to exist, and which no one has seen, so that the
    /// folder is free for the right handle. The directory file remains, because it identifies the directory of the store.
    ///
    /// - Throws: ``FileFault``.
    public func removeUnusedKeys() throws(FileFault) {
        guard unlink(keystore.path) == 0 else { throw .last }
    }

    /// Moves a store of another directory aside for a new account, so that nothing another directory showed can block the
    /// account's people. Its evidence stays within reach.
    ///
    /// - Throws: ``FileFault``.
    public func setAsideStore(notOf trust: DirectoryTrust) throws(FileFault) {
        guard DurableFile(path: storePath).exists, !isBound(to: trust) else { return }
        for number in 1... {
            let target = path + "/store-earlier-\(number).sqlite"
            guard try Self.move(storePath, to: target) else { continue }
            _ = rename(storePath + "-journal", target + "-journal")
            return
        }
    }

    /// Keeps every other signet process from making an account here, until the result is released or the process ends.
    ///
    /// - Returns: nil if another process is making an account here.
    /// - Throws: ``FileFault``.
    public func lock() throws(FileFault) -> HomeLock? { try HomeLock(folder: path) }

    /// Renames a file without ever replacing one; returns false if the target exists.
    private static func move(_ source: String, to target: String) throws(FileFault) -> Bool {
        if link(source, target) != 0 {
            guard errno == EEXIST else { throw .last }
            return false
        }
        guard unlink(source) == 0 else { throw .last }
        return true
    }

    /// Reads the directory's profile.
    ///
    /// - Throws: ``HomeError``.
    public func profile() throws(HomeError) -> DirectoryProfile {
        try Self.profile(in: directory)
    }

    /// Reads a profile from any file.
    ///
    /// - Throws: ``HomeError``.
    public static func profile(in file: DurableFile) throws(HomeError) -> DirectoryProfile {
        let bytes: [UInt8]
        do { bytes = try file.read(maximumByteCount: DirectoryProfile.maximumByteCount) } catch {
            throw .file(error)
        }
        do { return try DirectoryProfile(decoding: bytes) } catch { throw .profile(error) }
    }
}

/// The exclusive right to make an account in a home folder.
public final class HomeLock: Sendable {
    private let number: Int32

    init?(folder: String) throws(FileFault) {
        let number = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .last }
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(number)
            guard code == EWOULDBLOCK else { throw FileFault(errno: code) }
            return nil
        }
        self.number = number
    }

    /// A program that is being started holds a copy of the descriptor for a moment, so the lock is released explicitly.
    deinit {
        flock(number, LOCK_UN)
        close(number)
    }
}

/// Why the home folder cannot be used.
public enum HomeError: Error, Hashable, Sendable {
    /// The file cannot be read.
    case file(FileFault)
    /// The file is not a directory file.
    case profile(DirectoryProfileError)
}
