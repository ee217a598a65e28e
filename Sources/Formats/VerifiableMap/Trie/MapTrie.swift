// SPDX-License-Identifier: Apache-2.0

/// A map from 32-byte keys to 32-byte values with one hash over all of it: a Merkle Patricia trie.
///
/// The root depends on the entries alone, not on the order in which they came. Entries are added and changed in
/// batches, never removed. A batch writes every node on the way to its entries once and leaves all others as they are, so that
/// it costs time and memory for what it changes; versions that are still held stay whole and readable meanwhile.
///
/// The trie itself cannot be copied: its holder is the only writer. Readers hold a ``MapVersion``.
///
/// In memory: 152 bytes an entry, 52 more for each inner node that an older version does not share. Room for 2^31 - 2^10
/// nodes of each kind.
///
/// Spec: rsc.io/tmp/mpt.
public struct MapTrie: ~Copyable, Sendable {
    private var nodes = TrieNodes()
    /// Every version that was handed out and is not known to be gone.
    private var versions: [MapVersion.Token] = []
    /// The version that is served: the last one committed.
    public private(set) var current: MapVersion

    /// A map without entries.
    public init() {
        let token = MapVersion.Token(memory: nodes.memory, link: .none, count: 0)
        versions = [token]
        current = MapVersion(token)
    }

    /// Lays out the version that a batch leads to, with its root, and leaves the current one as it is.
    ///
    /// Dropping the prediction undoes it. To lay out the next batch while this one is being witnessed, give this
    /// one's ``MapPrediction/next`` as `base`.
    ///
    /// - Parameters:
    ///   - batch: New entries, and keys that get another value, in any order, no key twice.
    ///   - base: What to add them to; the current version unless given.
    /// - Throws: ``MapBatchError``. Nothing has changed then; a retry cannot help.
    public mutating func predict(
        _ batch: [MapEntry], on base: MapVersion? = nil
    ) throws(MapBatchError) -> MapPrediction {
        reclaim()
        let base = base ?? current
        guard base.token.memory === nodes.memory else { throw .versionOfAnotherTrie }
        guard nodes.hasRoom(for: batch.count, on: base.count) else { throw .full }
        let batch = try SortedBatch(batch, for: base.token.link, in: nodes.memory)
        let link = nodes.merge(batch, into: base.token.link)
        let next = MapVersion.Token(memory: nodes.memory, link: link, count: base.count + batch.newCount)
        versions.append(next)
        return MapPrediction(base: base, next: MapVersion(next))
    }

    /// Makes a predicted version the current one.
    ///
    /// - Throws: ``MapCommitError/notOnCurrentVersion``. Nothing has changed then.
    public mutating func commit(_ prediction: MapPrediction) throws(MapCommitError) {
        guard prediction.base.token === current.token else { throw .notOnCurrentVersion }
        current = prediction.next
    }

    /// Adds a batch to the current version at once.
    ///
    /// - Throws: ``MapBatchError``. Nothing has changed then; a retry cannot help.
    public mutating func update(_ batch: [MapEntry]) throws(MapBatchError) {
        current = try predict(batch).next
    }

    /// How many nodes all versions have together, those of versions that are gone not counted.
    package mutating func nodeCount() -> Int {
        reclaim()
        return nodes.count
    }

    /// Frees the nodes of versions that have no other holder any more.
    private mutating func reclaim() {
        var kept: [MapVersion.Token] = []
        while var token = versions.popLast() {
            if isKnownUniquelyReferenced(&token) { nodes.release(token.link) } else { kept.append(token) }
        }
        versions = kept
    }
}
