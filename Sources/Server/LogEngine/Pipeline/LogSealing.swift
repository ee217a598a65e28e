// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
package import TransparencyLog

/// What a sealer read in a group. The log hands it back with the group, and looks at nothing of it.
package protocol ReadGroup: Sendable {}

/// Ends every frame of a log with an entry of its own, so that every checkpoint that is ever signed does.
///
/// But for ``read(_:)``, called on the thread of the group commit, or while the log is being opened, never from two threads at once.
package protocol LogSealing: Sendable {
    /// Takes a frame that is in the write-ahead log already.
    ///
    /// - Parameter shown: at most the size of the checkpoint that the log will show when it is open, and of the one signed last.
    ///   What belongs to smaller ones need not be kept. The signed root is compared when all has been replayed: it vouches for what
    ///   the entries say.
    /// - Throws: ``KeyTransparency/IndexFault``: it cannot have been written by this sealer.
    func replay(_ entries: [ArraySlice<UInt8>], leaves: [TreeHash], shown: UInt64) throws(IndexFault)

    /// Called after ``replay(_:leaves:shown:)`` has thrown: whether it was led astray by something that is not the log. Then it has
    /// forgotten everything, and the log is replayed from its beginning.
    func beginsAgain(after fault: IndexFault) -> Bool

    /// Forgets everything, because what was replayed was not the log. It is replayed from its beginning, without anything that might have led
    /// astray.
    func beginAgain()

    /// May keep the leaf hashes of the log where the log's tree does, which has them all. Must be short.
    func share(_ tree: MerkleTree)

    /// Reads a group, on its caller's thread.
    ///
    /// - Throws: ``KeyTransparency/IndexFault``: it has not the form of a step.
    func read(_ entries: [[UInt8]]) throws(IndexFault) -> any ReadGroup

    /// Whether a group may be the next one, alone.
    ///
    /// - Throws: ``KeyTransparency/IndexFault``: it breaks a rule.
    func check(_ group: PendingGroup) throws(IndexFault)

    /// How many of these groups, from the first, may share a frame.
    func fitting(_ groups: [PendingGroup]) -> Int

    /// The entry that ends a frame of these groups.
    ///
    /// - Throws: ``KeyTransparency/IndexFault``: the log has failed for good.
    func seal(_ groups: [PendingGroup]) throws(IndexFault) -> [UInt8]
}
