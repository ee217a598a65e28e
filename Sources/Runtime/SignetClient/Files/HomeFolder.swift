public import SignetAPI

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
public struct HomeFolder: Sendable {
    /// The folder.
    public let path: String

    /// The folder at a path, which need not exist.
    public init(path: String) { self.path = path }

    /// The sealed private keys.
    public var keystore: DurableFile { DurableFile(path: path + "/keystore") }
    /// The directory this account is registered at.
    public var directory: DurableFile { DurableFile(path: path + "/directory") }
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

    /// Removes the keystore and the directory file of an account that was never registered.
    ///
    /// Security: the keys are gone for good.
    public func discardUnregistered() {
        unlink(keystore.path)
        unlink(directory.path)
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

/// Why the home folder does not give what it should.
public enum HomeError: Error, Hashable, Sendable {
    /// The file cannot be read.
    case file(FileFault)
    /// The directory file is not one.
    case profile(DirectoryProfileError)
}
