// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import LogEngine
import SignetAPI
import Synchronization
import Testing
import TransparencyLog

@testable import SignetServer

/// How a change of keys waits for its checkpoint.
struct RotationPublishingTests {
    /// Each head is cosigned at the second request, as by an auditor that takes longer than a round for what is new.
    private final class LateWitness: CheckpointWitnessing {
        private let heads = Mutex<Set<UInt64>>([])

        func cosignatures(
            on note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
        ) async throws(WitnessShortfall) -> [NoteSignature] {
            guard !heads.withLock({ $0.insert(head.size).inserted }) else { throw WitnessShortfall(missing: []) }
            return []
        }
    }

    @Test(.timeLimit(.minutes(2))) func anEpochThatWasCosignedLateNeedsNoOther() async throws {
        try await withDataDirectory { data in
            try await StoredDirectory.open(data, logger: silent).directory.close()
            let directory = try await Directory.open(
                at: data.records, keys: StoredDirectory.readKeys(data, StoredDirectory.readProfile(data)),
                clock: ServerClock.system.time, logger: silent, witnessing: LateWitness())
            let size = directory.log.published.head.size
            var rotation = DirectoryKeyRotation(data, logger: silent)
            rotation.patience = 6
            let outcome = await rotation.publish(directory, endsEpoch: true)
            #expect(throws: Never.self) { try outcome.get() }
            #expect(directory.log.published.head.size == size + 1)
            await directory.close()
        }
    }
}
