// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
import TransparencyLog

/// The files of a log as the directory serves them. Only ``checkpoint(_:at:)`` verifies.
struct LogFiles: Sendable {
    let calls: DirectoryCalls

    /// - Parameter known: what the client knows of the log, so that a front end that is behind says so in place of showing less.
    func checkpoint(
        _ trust: DirectoryTrust, knowing known: LogView?, at now: UInt64
    ) async throws(ClientError) -> (checkpoint: VerifiedCheckpoint, age: UInt64) {
        let file: [UInt8]?
        do {
            file = try await calls.logFile(
                Array("checkpoint".utf8), limit: .checkpoint, published: known?.head.size)
        } catch { throw error.judged(knowing: known, at: now) }
        guard let bytes = file else { throw .log(.missing(nil)) }
        do {
            let checkpoint = try trust.policy.verify(SignedNote(decoding: bytes))
            return (checkpoint, try trust.freshness.age(of: checkpoint.quorumTime, at: now))
        } catch let error as NoteError {
            throw .log(.note(error))
        } catch let error as CheckpointVerificationError {
            throw .log(.checkpoint(error))
        } catch let error as FreshnessError {
            throw .log(.freshness(error))
        } catch { throw .log(.missing(nil)) }
    }

    /// Entries of bundle `index` of a log of this size.
    func entries(bundle index: UInt64, size: UInt64) async throws(ClientError) -> [[UInt8]] {
        try await tiles.entries(bundle: index, size: size)
    }

    /// The hashes of a tile of a log of this size.
    func hashes(level: Int, index: UInt64, size: UInt64) async throws(ClientError) -> (Tile, [TreeHash]) {
        try await tiles.hashes(level: level, index: index, size: size)
    }

    /// The tiles as the directory serves them.
    var tiles: LogTiles<ClientError> {
        LogTiles(
            missing: { .log(.missing($0)) }, malformed: { .log(.tile($0, $1)) },
            fetch: { tile throws(ClientError) in
                try await calls.logFile(tile.path, limit: ResponseLimit(tile))
            })
    }
}
