// SPDX-License-Identifier: Apache-2.0

/// What a map says about a key, shown by a proof. Only ``MapProof/verify(_:in:)`` makes one.
///
/// Security: holds for the map with this root and for no other. Who vouches for the root, and that it was built by the
/// trie's rules, must be shown elsewhere: a root that an attacker composed freely can show a key both present and
/// absent.
public struct VerifiedMapping: Hashable, Sendable {
    /// What the map holds for a key.
    public enum Outcome: Hashable, Sendable {
        /// This value.
        case present(MapValue)
        /// Nothing.
        case absent
    }

    /// The key that was asked for.
    public let key: MapKey
    /// What the map holds for it.
    public let outcome: Outcome
    /// The root of the map.
    public let root: MapHash

    init(key: MapKey, outcome: Outcome, root: MapHash) {
        self.key = key
        self.outcome = outcome
        self.root = root
    }
}
