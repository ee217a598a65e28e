import KeyTransparency
import TransparencyLog

/// The files of a log as the directory serves them. Only ``checkpoint(_:at:)`` verifies.
struct LogFiles: Sendable {
    let calls: DirectoryCalls

    func checkpoint(
        _ trust: DirectoryTrust, at now: UInt64
    ) async throws(ClientError) -> (checkpoint: VerifiedCheckpoint, age: UInt64) {
        guard let bytes = try await calls.logFile(Array("checkpoint".utf8), limit: .checkpoint) else {
            throw .log(.missing(nil))
        }
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
        let tile = try Self.tile(.entries, index, size)
        let (bytes, width) = try await bytes(of: tile)
        do { return Array(try EntryBundle(decoding: bytes, width: width).entries.prefix(tile.width)) } catch {
            throw .log(.tile(tile, error))
        }
    }

    /// The hashes of a tile of a log of this size.
    func hashes(level: Int, index: UInt64, size: UInt64) async throws(ClientError) -> (Tile, [TreeHash]) {
        let tile = try Self.tile(.hashes(level: level), index, size >> UInt64(8 * level))
        let (bytes, width) = try await bytes(of: tile)
        do {
            let served = width == tile.width ? tile : tile.full
            return (tile, Array(try served.hashes(decoding: bytes).prefix(tile.width)))
        } catch { throw .log(.tile(tile, error)) }
    }

    /// A partial tile may have been replaced by the full one.
    private func bytes(of tile: Tile) async throws(ClientError) -> ([UInt8], width: Int) {
        if let bytes = try await calls.logFile(tile.path, limit: ResponseLimit(tile)) {
            return (bytes, tile.width)
        }
        guard !tile.isFull,
            let bytes = try await calls.logFile(tile.full.path, limit: ResponseLimit(tile.full))
        else { throw .log(.missing(tile)) }
        return (bytes, Tile.fullWidth)
    }

    private static func tile(
        _ content: Tile.Content, _ index: UInt64, _ count: UInt64
    ) throws(ClientError) -> Tile {
        let width = UInt64(Tile.fullWidth)
        do {
            return try Tile(content, index: index, width: Int(min(width, count - index * width)))
        } catch { throw .log(.missing(nil)) }
    }
}
