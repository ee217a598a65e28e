// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import LogAuditor
import ProtocolTesting
import Synchronization
import TransparencyLog

/// A folder that is removed at the end of the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path() + "/audit-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func below(_ name: String) -> String { path + "/" + name }
}

/// The files that a log serves, which a test can change.
final class ServedLog: LogSource {
    private let files = Mutex<[String: [UInt8]]>([:])
    private let counter = Mutex(0)

    /// How many files were asked for.
    var readCount: Int { counter.withLock { $0 } }

    /// Serves a log as it is now, with its newest checkpoint unless another is given.
    func serve(_ log: ForgedLog, publishing checkpoint: SignedNote? = nil) throws {
        try set("checkpoint", (checkpoint ?? log.checkpoint()).encoded)
        try serveTiles(of: log)
    }

    /// Serves the tiles of a log, and leaves the checkpoint as it is.
    func serveTiles(of log: ForgedLog) throws {
        for tile in Tile.added(from: 0, to: log.size) {
            let start = Int(tile.index) * Tile.fullWidth
            set(
                String(decoding: tile.path, as: UTF8.self),
                tile.content == .entries
                    ? try EntryBundle(entries: Array(log.entries[start..<start + tile.width])).encoded
                    : try tile.encode(log.tree.hashes(of: tile)))
        }
    }

    func set(_ path: String, _ bytes: [UInt8]?) { files.withLock { $0[path] = bytes } }

    func bytes(_ path: String) -> [UInt8]? { files.withLock { $0[path] } }

    func file(_ path: [UInt8], maximumByteCount: Int) async throws(LogSourceError) -> [UInt8]? {
        counter.withLock { $0 += 1 }
        return bytes(String(decoding: path, as: UTF8.self))
    }

    /// Writes all files into a folder.
    func write(to folder: String) throws {
        for (path, bytes) in files.withLock({ $0 }) {
            let file = URL(filePath: folder + "/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
        }
    }
}

extension Evidence {
    /// The checkpoints in it.
    var notes: [SignedNote] {
        switch self {
        case .fork(let fork): [fork.first, fork.second]
        case .rule(let rule): [rule.checkpoint]
        }
    }
}

extension AuditorError {
    /// The guilt of the log that the error reports.
    var guilt: LogGuilt? { if case .guilty(let guilt) = self { guilt } else { nil } }

    /// The claim of the evidence.
    var claim: String? {
        guard case .guilty(let guilt) = self else { return nil }
        switch guilt.evidence {
        case .fork: return "fork"
        case .rule(let rule): return rule.fault.rawValue
        }
    }
}
