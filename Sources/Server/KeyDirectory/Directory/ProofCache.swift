// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The proofs of devices that were printed for one checkpoint, so that asking again for the same costs no hashing.
final class ProofCache: Sendable {
    private struct Proofs {
        var checkpoint: [UInt8] = []
        var byIndex: [UInt64: String] = [:]
    }

    /// At most this many proofs of about a kilobyte.
    static let capacity = 4096

    private let proofs = Mutex(Proofs())

    /// The number of proofs remembered.
    var count: Int { proofs.withLock { $0.byIndex.count } }

    /// The proof of an entry in exactly this checkpoint, cosignatures and all.
    func find(_ index: UInt64, _ checkpoint: [UInt8]) -> String? {
        proofs.withLock { $0.checkpoint == checkpoint ? $0.byIndex[index] : nil }
    }

    /// Remembers a proof; the first one of another checkpoint, or one too many, forgets all others.
    func keep(_ proof: String, _ index: UInt64, _ checkpoint: [UInt8]) {
        proofs.withLock { proofs in
            if proofs.checkpoint != checkpoint || proofs.byIndex.count >= Self.capacity {
                proofs = Proofs(checkpoint: checkpoint)
            }
            proofs.byIndex[index] = proof
        }
    }
}
