// SPDX-License-Identifier: Apache-2.0

public import PinnedHTTP
import Platform

/// Why a file could not be read or written.
public enum FileFault: Error, Hashable, Sendable {
    /// The file or folder does not exist.
    case notFound
    /// The file already exists and is not replaced.
    case exists
    /// There is a folder where a file is expected.
    case isDirectory
    /// There is a file where a folder is expected.
    case notADirectory
    /// The system does not allow it.
    case notPermitted
    /// The disk or the quota is full.
    case noSpace
    /// The file system is read-only.
    case readOnly
    /// More bytes than such a file ever has.
    case tooLong(limit: Int)
    /// Other users may read the file, although it holds secrets.
    case openToOthers
    /// Another failure of the system, with its number, `errno`.
    case system(Int32)

    /// Only for failures of this family may waiting or freeing space help.
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
