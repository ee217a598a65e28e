// SPDX-License-Identifier: Apache-2.0

/// What the system says of a file or folder.
///
/// In a module where another file imports Foundation, the members of `stat` belong to that import for the compiler; here they belong
/// to the C library.
package struct FileStatus: Sendable {
    /// The length in bytes, of a regular file.
    package let byteCount: UInt64
    package let isFolder: Bool
    /// Whether it is a regular file.
    package let isFile: Bool
    package let isPipe: Bool
    package let isSocket: Bool
    /// Whose it is.
    package let owner: uid_t
    /// The nine bits of who may read, write and execute or enter it.
    package let permissions: mode_t
    /// Whether others than its owner may rename and replace what is in this folder: the group or all may write, and no sticky bit keeps to each
    /// what is theirs.
    package let letsOthersReplace: Bool
    /// Which file it is, whatever its name: two names with the same identity lead to one file.
    package let identity: Identity

    /// By which a file system knows a file.
    package struct Identity: Hashable, Sendable {
        fileprivate let device: UInt64
        fileprivate let number: UInt64
    }

    /// Whether the group or others may read it, write to it or enter it.
    package var isOpenToOthers: Bool { permissions & 0o077 != 0 }

    /// The status of what a path leads to, through links; nil, with a reason in `errno`, if there is nothing or it cannot be asked.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The status of what a path names, of a link itself; nil, with a reason in `errno`, if there is nothing or it cannot be asked.
    package init?(ofEntry path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The status of an open file; nil, with a reason in `errno`, if it cannot be asked.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        byteCount = UInt64(max(0, status.st_size))
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        isPipe = status.st_mode & S_IFMT == S_IFIFO
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
        isFile = status.st_mode & S_IFMT == S_IFREG
        owner = status.st_uid
        identity = Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
        permissions = status.st_mode & 0o777
        letsOthersReplace = isFolder && status.st_mode & 0o022 != 0 && status.st_mode & 0o1000 == 0
    }
}
