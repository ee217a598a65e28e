// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a snapshot. A damaged file: rebuild the map from its log.
public enum MapSnapshotError: Error, Hashable, Sendable {
    /// The first line is not that of a snapshot that we know.
    case unknownFormat
    /// It ends too early; this many bytes are missing at least.
    case truncated(missing: Int)
    /// Bytes follow its end, this many at least.
    case leftOverBytes(Int)
    /// The trie has no room for this many entries.
    case tooManyEntries(UInt64)
    /// The key of this entry, from 0, is not higher than the one before.
    case keysNotAscending(entry: UInt64)
    /// The bytes are not those that were written.
    case checksumMismatch
    /// The entries lead to another root than the one it names.
    case rootMismatch
}
