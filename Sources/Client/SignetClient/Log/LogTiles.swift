// SPDX-License-Identifier: Apache-2.0

package import TransparencyLog

/// The tiles of a log, from any source. Only their form is verified.
package struct LogTiles<Failure: Error>: Sendable {
    private let fetch: @Sendable (Tile) async throws(Failure) -> [UInt8]?
    private let missing: @Sendable (Tile?) -> Failure
    private let malformed: @Sendable (Tile, TileError) -> Failure

    /// Tiles that `fetch` returns; nil for a tile that does not exist.
    package init(
        missing: @escaping @Sendable (Tile?) -> Failure,
        malformed: @escaping @Sendable (Tile, TileError) -> Failure,
        fetch: @escaping @Sendable (Tile) async throws(Failure) -> [UInt8]?
    ) {
        self.missing = missing
        self.malformed = malformed
        self.fetch = fetch
    }

    /// Entries of bundle `index` of a log of this size.
    package func entries(bundle index: UInt64, size: UInt64) async throws(Failure) -> [[UInt8]] {
        let tile = try tile(.entries, index, size)
        let (bytes, width) = try await bytes(of: tile)
        do { return Array(try EntryBundle(decoding: bytes, width: width).entries.prefix(tile.width)) } catch {
            throw malformed(tile, error)
        }
    }

    /// The hashes of a tile of a log of this size.
    package func hashes(level: Int, index: UInt64, size: UInt64) async throws(Failure) -> (Tile, [TreeHash]) {
        let tile = try tile(.hashes(level: level), index, size >> UInt64(8 * level))
        let (bytes, width) = try await bytes(of: tile)
        do {
            let served = width == tile.width ? tile : tile.full
            return (tile, Array(try served.hashes(decoding: bytes).prefix(tile.width)))
        } catch { throw malformed(tile, error) }
    }

    /// Proofs in a log of this size.
    package func reader(size: UInt64) -> TileReader<Failure> {
        TileReader(size: size, missing: missing(nil)) { level, index throws(Failure) in
            try await hashes(level: level, index: index, size: size).1
        }
    }

    /// A partial tile may have been replaced by the full one.
    private func bytes(of tile: Tile) async throws(Failure) -> ([UInt8], width: Int) {
        if let bytes = try await fetch(tile) { return (bytes, tile.width) }
        guard !tile.isFull, let bytes = try await fetch(tile.full) else { throw missing(tile) }
        return (bytes, Tile.fullWidth)
    }

    private func tile(_ content: Tile.Content, _ index: UInt64, _ count: UInt64) throws(Failure) -> Tile {
        let (start, overflow) = index.multipliedReportingOverflow(by: UInt64(Tile.fullWidth))
        guard !overflow, start < count,
            let tile = try? Tile(content, index: index, width: Int(min(UInt64(Tile.fullWidth), count - start)))
        else { throw missing(nil) }
        return tile
    }
}
