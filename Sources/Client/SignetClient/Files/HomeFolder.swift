import CanonicalCoding
import Crypto
public import KeyTransparency
public import SignetAPI
import TransparencyLog
import VRF

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where one account of one person lives on this device: a folder that only its owner may enter.
///
/// | file | what |
/// |---|---|
/// | `directory` | the ``DirectoryProfile``, as it was handed over |
/// | `keystore` | the device's private keys, sealed under the passphrase |
/// | `store.sqlite` | what was verified and accepted; evidence |
/// | `store-….sqlite`, `directory-…` | the same of another directory, which was only looked at |
/// | `pin-reports` | connections in which no key was pinned |
/// | `rings` | which rings of calls were heard |
/// | `tpm` | what a chip has wrapped, if it holds a part of the keystore |
/// | `keystore.refused`, `directory.refused` | keys of an account that the directory would not register |
public struct HomeFolder: Sendable {
    /// The folder.
    public let path: String

    /// The folder at a path, which need not exist.
    public init(path: String) { self.path = path }

    /// The sealed private keys.
    public var keystore: DurableFile { DurableFile(path: path + "/keystore") }
    /// The directory this account is registered at.
    public var directory: DurableFile { DurableFile(path: path + "/directory") }
    /// Reports of connections in which no key was pinned: ``ReportSpool``.
    public var reports: DurableFile { DurableFile(path: path + "/pin-reports") }
    /// Which rings were heard.
    public var rings: DurableFile { DurableFile(path: path + "/rings") }
    /// The SQLite file of ``SQLiteStore``.
    public var storePath: String { path + "/store.sqlite" }

    /// Makes the folder with mode 0700, and its parents, unless it is there.
    ///
    /// - Throws: ``FileFault``: ``FileFault/openToOthers`` when others may enter a folder that is there.
    public func prepare() throws(FileFault) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { throw .notADirectory }
            guard status.st_mode & 0o077 == 0 else { throw .openToOthers }
            return
        }
        var end = path.startIndex
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            guard mkdir(String(path[..<end]), 0o700) == 0 || errno == EEXIST else { throw .last }
        }
    }

    /// Names a directory by what is pinned about it: the first 16 hex digits of the SHA-256 of its VRF key
    /// and its policy, log keys included. A directory set up anew has another name, whatever its origin says.
    public static func name(of trust: DirectoryTrust) -> String {
        let digest = SHA256.hash(data: trust.vrfKey.bytes + trust.policy.encoded)
        return String(decoding: Hex.encode(Array(digest.prefix(8))), as: UTF8.self)
    }

    /// Whether the home's own directory file names this directory.
    public func isBound(to trust: DirectoryTrust) -> Bool {
        guard let own = try? profile() else { return false }
        return Self.name(of: own.trust) == Self.name(of: trust)
    }

    /// Where this directory's SQLite file is: the home's own, or one for this directory alone.
    public func storePath(of trust: DirectoryTrust) -> String {
        isBound(to: trust) ? storePath : path + "/store-\(Self.name(of: trust)).sqlite"
    }

    /// Where the profile of a directory that is not the home's own is kept, for its evidence.
    public func guestProfile(of trust: DirectoryTrust) -> DurableFile {
        DurableFile(path: path + "/directory-" + Self.name(of: trust))
    }

    /// Every store in the folder, with the profile that belongs to it if it is there: the home's own first.
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

    /// Puts the keys and the directory file of an account that was refused out of the way, for a refusal
    /// proves nothing, and there is no other copy of the keys.
    ///
    /// - Returns: where the keystore is now, and where the directory file is.
    /// - Throws: ``FileFault``: the keystore is where it was.
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

    /// Takes away keys that were made for an account of which the log proves that there is none, before anybody saw them, so
    /// that the folder is free for the right handle. The directory's file stays: by it the store is known to be the directory's.
    ///
    /// - Throws: ``FileFault``.
    public func removeUnusedKeys() throws(FileFault) {
        guard unlink(keystore.path) == 0 else { throw .last }
    }

    /// Puts a store that is not this directory's out of the way of a new account, so that nothing another
    /// directory showed can block its people. Its evidence stays within reach.
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

    /// Keeps every other signet from making an account here, until the result is gone or the process ends.
    ///
    /// - Returns: nil when another one is making an account here.
    /// - Throws: ``FileFault``.
    public func lock() throws(FileFault) -> HomeLock? { try HomeLock(folder: path) }

    /// Renames without ever replacing a file; false when there is one.
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

/// The sole right to make an account in a home folder.
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

    /// A program that is being started holds a copy of the descriptor for a moment; the lock goes now.
    deinit {
        flock(number, LOCK_UN)
        close(number)
    }
}

/// Why the home folder does not give what it should.
public enum HomeError: Error, Hashable, Sendable {
    /// The file cannot be read.
    case file(FileFault)
    /// The directory file is not one.
    case profile(DirectoryProfileError)
}
