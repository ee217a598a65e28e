// SPDX-License-Identifier: Apache-2.0

/// How large a file system is, and what of it this user may still write, both in bytes.
package struct FileSystemRoom: Sendable {
    package let free: UInt64
    package let total: UInt64

    package init(free: UInt64, total: UInt64) {
        self.free = free
        self.total = total
    }

    /// The room of the file system that holds a file or folder; nil: the system does not say.
    package init?(holding path: String) {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { return nil }
        let block = UInt64(system.f_frsize)
        self.init(free: UInt64(system.f_bavail) &* block, total: UInt64(system.f_blocks) &* block)
    }
}
