public import PinnedHTTP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Why a file could not be read or written.
public enum FileFault: Error, Hashable, Sendable {
    /// There is no such file or folder.
    case notFound
    /// There is one already, and it is not replaced.
    case exists
    /// A folder stands where a file is expected.
    case isDirectory
    /// A file stands where a folder is expected.
    case notADirectory
    /// The system does not allow it.
    case notPermitted
    /// The disk or the quota is full.
    case noSpace
    /// The file system is read-only.
    case readOnly
    /// More bytes than such a file ever has.
    case tooLong(limit: Int)
    /// Other users may read it, and it holds secrets.
    case openToOthers
    /// Another failure of the system; its number, `errno`.
    case system(Int32)

    /// Waiting or making room may help for these only.
    public var family: ErrorFamily {
        switch self {
        case .noSpace, .readOnly, .system: .environment
        default: .caller
        }
    }

    init(errno code: Int32) {
        self =
            switch code {
            case ENOENT: .notFound
            case EEXIST: .exists
            case EISDIR: .isDirectory
            case ENOTDIR: .notADirectory
            case EACCES, EPERM: .notPermitted
            case ENOSPC, EDQUOT: .noSpace
            case EROFS: .readOnly
            default: .system(code)
            }
    }

    static var last: FileFault { FileFault(errno: errno) }
}
