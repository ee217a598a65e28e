// SPDX-License-Identifier: Apache-2.0

package import TransparencyLog

/// Where a log that is written here keeps everything: files of this machine, or a database and an object store that several machines
/// share.
///
/// ``commit(_:)`` is called on the thread of the group commit, the others on those of publishing and of tiles, none twice at once. Each may wait
/// for a disk or a network. After one has thrown, none is called any more: the log has failed for good.
package protocol LogStores: Sendable {
    /// Writes groups as one frame, and returns when it is durable: only what is in it is ever signed.
    ///
    /// - Returns: the index of the first entry.
    /// - Throws: ``LogFailure``: whether the frame is there is unknown.
    func commit(_ groups: [HashedEntries]) throws(LogFailure) -> UInt64

    /// How many entries the next checkpoint is to cover; nil: all that are durable.
    ///
    /// - Parameter isWanted: whether one is to be signed even if it covers nothing new.
    func nextSize(isWanted: Bool) throws(LogFailure) -> UInt64?

    /// Whether tiles and bundles are where others read them before the checkpoint over them is signed. Otherwise they are derived later.
    var placesBeforeSigning: Bool { get }

    /// Keeps a full tile or bundle.
    func write(_ tile: Tile, _ bytes: [UInt8]) throws(LogFailure)

    /// The bytes of a full bundle.
    func bundle(_ tile: Tile) throws(DurableLogReadError) -> [UInt8]

    /// All tiles of a head are kept. What its last bundle has, full or not, is in `bundle`.
    func finishPlacing(_ head: TreeHead, bundle: [UInt8]) throws(LogFailure)

    /// Puts a signed checkpoint down, before it leaves the process.
    ///
    /// - Parameter root: the root of the first entries of the tree; nil beyond its size.
    func remember(_ checkpoint: PublishedCheckpoint, root: (UInt64) -> TreeHash?) throws(LogFailure)

    /// Puts down that a checkpoint is shown from now on.
    ///
    /// - Parameter isWitnessed: whether witnesses have cosigned it.
    func publish(_ checkpoint: PublishedCheckpoint, isWitnessed: Bool) throws(LogFailure)

    /// Lets go of everything, when all stages have come to their end.
    func release() async

    /// Whether what is written is there after the process has ended: nobody has removed or replaced the files under it. Asked on any thread.
    var areKept: Bool { get }

    /// The files that are not in their places. Asked on any thread.
    var displaced: DisplacedFiles { get }
}

extension LogStores {
    package var areKept: Bool { true }
    package var displaced: DisplacedFiles { DisplacedFiles() }
}
