// SPDX-License-Identifier: Apache-2.0

/// Why a proof does not show what it claims. None is worth a retry: the peer sent something wrong.
public enum MapProofError: Error, Hashable, Sendable {
    /// No path has this many bytes: the longest takes 256 steps of 33 bytes.
    case pathTooLong(byteCount: Int)
    /// This many bytes follow the last whole step: a step cut short, or something that is not a step.
    case leftOverBytes(Int)
    /// Going up, this step (the leaf's parent is step 0) does not name a lower bit than the one before.
    case bitNotDecreasing(step: Int)
    /// An absence proof begins with another leaf of 64 bytes; it has only this many bytes.
    case otherLeafCutShort(byteCount: Int)
    /// The leaf shown in proof of absence has the very key that is said to be absent.
    case otherKeyIsAskedKey
    /// The leaf shown in proof of absence is not where a search for the asked key ends: the keys part at this bit,
    /// where the trie has a node.
    case otherKeyLeavesPath(bit: UInt8)
    /// The proof leads to another root.
    case rootMismatch
}
