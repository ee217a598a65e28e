// SPDX-License-Identifier: Apache-2.0

import Platform

/// Free space that notes, signals and letters leave alone, because the directory is on the same disk: registrations,
/// revocations and objections have to be written even when the rest has been filled.
package struct DiskReserve: Sendable {
    /// How many bytes of a file system it is: 256 MiB, or an eighth of the file system if that is less.
    package static func byteCount(of total: UInt64) -> UInt64 { min(256 << 20, total / 8) }

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
            FileSystemRoom(holding: folder).map { Self.use(free: $0.free, of: $0.total) } ?? .none
        }
    }

    /// For tests.
    package init(use: @escaping @Sendable () -> Use) { self.use = use }

    package static func use(free: UInt64, of total: UInt64) -> Use {
        let reserve = byteCount(of: total)
        return free >= reserve ? .none : free >= reserve / 2 ? .some : .half
    }
}
