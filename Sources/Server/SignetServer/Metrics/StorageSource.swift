// SPDX-License-Identifier: Apache-2.0

import Platform

/// How large the databases of a data directory are, and what room there is beside them.
struct StorageSource: MetricSource {
    /// What a file system has, in bytes.
    struct Room: Sendable {
        let free: UInt64
        let total: UInt64
    }

    private let data: DataDirectory
    private let roomOf: @Sendable (String) -> Room?

    /// - Parameter roomOf: the room of the file system that holds a folder; nil: it cannot be asked.
    init(_ data: DataDirectory, roomOf: @escaping @Sendable (String) -> Room? = Self.systemRoom) {
        self.data = data
        self.roomOf = roomOf
    }

    func samples() -> [MetricSample] {
        databases.flatMap { name, path in
            [
                MetricSample(.databaseBytes, Self.byteCount(path), ("database", name)),
                MetricSample(.databaseLogBytes, Self.byteCount(path + "-wal"), ("database", name)),
            ]
        } + room
    }

    private var databases: [(name: String, path: String)] {
        [
            ("directory", data.records + "/directory.sqlite"), ("notes", data.notesDatabase),
            ("recovery", data.recovery), ("signals", data.signals),
        ]
    }

    private var room: [MetricSample] {
        guard let room = roomOf(data.path) else { return [] }
        return [
            MetricSample(.diskFree, room.free), MetricSample(.diskReserve, Self.reserve(of: room.total)),
        ]
    }

    /// Where `DiskReserve` begins to refuse, in bytes: a test holds the two together.
    static func reserve(of total: UInt64) -> UInt64 { min(256 << 20, total / 8) }

    private static func systemRoom(_ folder: String) -> Room? {
        var system = statvfs()
        guard statvfs(folder, &system) == 0 else { return nil }
        let block = UInt64(system.f_frsize)
        return Room(free: UInt64(system.f_bavail) * block, total: UInt64(system.f_blocks) * block)
    }

    /// 0 if the file is not there.
    private static func byteCount(_ path: String) -> UInt64 {
        var state = stat()
        return stat(path, &state) == 0 ? UInt64(max(0, state.st_size)) : 0
    }
}
