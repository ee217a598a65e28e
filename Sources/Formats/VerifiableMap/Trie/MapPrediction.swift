// SPDX-License-Identifier: Apache-2.0

/// A version that is laid out and not yet current.
public struct MapPrediction: Sendable {
    /// What the batch was added to.
    let base: MapVersion
    /// The version with the batch. It can be read and proved from like any other.
    public let next: MapVersion

    /// The root that the map will have.
    public var root: MapHash { next.root }
}

/// Why a batch cannot be added. The caller made a mistake, or the trie is full.
public enum MapBatchError: Error, Hashable, Sendable {
    /// The batch has this key twice: which value is to last is not for the map to guess.
    case duplicateKey(MapKey)
    /// The version to add to belongs to another trie.
    case versionOfAnotherTrie
    /// The nodes may exceed 2^31 - 2^10 of a kind. Dropping old versions may help.
    case full
}

/// Why a prediction cannot become the current version.
public enum MapCommitError: Error, Hashable, Sendable {
    /// It was made on another version than the current one.
    case notOnCurrentVersion
}
