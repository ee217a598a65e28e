// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Platform
import Telemetry

/// How large the databases of a data directory are, and what room there is beside them.
struct StorageSource: MetricSource {
    private let folder: String
    private let databases: [(name: String, path: String)]
    /// nil where `signetd backup` makes none.
    private let backup: BackupMark?
    private let roomOf: @Sendable (String) -> FileSystemRoom?

    /// - Parameter roomOf: the room of the file system that holds a folder; nil: it cannot be asked.
    init(
        _ data: DataDirectory,
        roomOf: @escaping @Sendable (String) -> FileSystemRoom? = { FileSystemRoom(holding: $0) }
    ) {
        folder = data.path
        databases = [
            ("directory", data.records + "/directory.sqlite"), ("notes", data.notesDatabase),
            ("recovery", data.recovery), ("signals", data.signals),
        ]
        // Of shared engines their own tools make backups.
        backup = access(data.engines, F_OK) == 0 ? nil : BackupMark(of: data)
        self.roomOf = roomOf
    }

    /// Of a process that has no database of its own.
    init(roomFor folder: String) {
        self.folder = folder
        databases = []
        backup = nil
        roomOf = { FileSystemRoom(holding: $0) }
    }

    /// Of a witness.
    init(_ data: WitnessDirectory) {
        folder = data.path
        databases = [("witness", data.memory)]
        backup = nil
        roomOf = { FileSystemRoom(holding: $0) }
    }

    func samples() -> [MetricSample] {
        databases.flatMap { name, path in
            [
                MetricSample(.databaseBytes, Self.byteCount(path), ("database", name)),
                MetricSample(.databaseLogBytes, Self.byteCount(path + "-wal"), ("database", name)),
            ]
        } + (backup.map { [MetricSample(.backupTime, $0.time ?? 0)] } ?? []) + room
    }

    private var room: [MetricSample] {
        guard let room = roomOf(folder) else { return [] }
        return [
            MetricSample(.diskFree, room.free), MetricSample(.diskReserve, DiskReserve.byteCount(of: room.total)),
        ]
    }

    /// 0 if the file is not there.
    private static func byteCount(_ path: String) -> UInt64 {
        FileStatus(of: path)?.byteCount ?? 0
    }
}
