// SPDX-License-Identifier: Apache-2.0

import Platform

/// Free space that notes, signals and letters leave alone, because the directory is on the same disk: registrations,
/// revocations and objections have to be written even when the rest has been filled.
package struct DiskReserve: Sendable {
    /// Of a file system the smaller of this, in bytes, and an eighth of it.
    static let byteCount: UInt64 = 256 << 20

    /// How much of it is used.
    package enum Use: Comparable, Sendable {
        /// There is room beside it.
        case none
        /// Something of it: nothing more is to be taken.
        case some
        /// More than half: what takes away needs no room, and everything else waits for the directory.
        case half
    }

    /// How much of it is used now.
    package let use: @Sendable () -> Use

    /// Whether nothing more is to be taken.
    package var isReached: Bool { use() > .none }

    /// The reserve of the file system that holds a file. One that cannot be asked has room.
    package init(besideFileAt path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        use = {
            var system = statvfs()
            guard statvfs(folder, &system) == 0 else { return .none }
            return Self.use(
                free: UInt64(system.f_bavail) * UInt64(system.f_frsize),
                of: UInt64(system.f_blocks) * UInt64(system.f_frsize))
        }
    }

    /// For tests.
    package init(use: @escaping @Sendable () -> Use) { self.use = use }

    package static func use(free: UInt64, of total: UInt64) -> Use {
        let reserve = min(byteCount, total / 8)
        return free >= reserve ? .none : free >= reserve / 2 ? .some : .half
    }
}
