// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// One checkpoint on its way round the witnesses. At most one is under way.
final class WitnessRound: Sendable {
    typealias Outcome = Result<PublishedCheckpoint, LogRoundFailure>

    private struct State {
        var task: Task<Void, Never>?
        var outcome: Outcome?
    }

    private let state = Mutex(State())

    /// Whether a checkpoint is under way, or has come back and was not looked at.
    var isUnderWay: Bool { state.withLock { $0.task != nil } }

    /// Sends a checkpoint round.
    ///
    /// - Parameter onEnd: called when ``take()`` has something to take.
    func begin(
        _ checkpoint: PublishedCheckpoint, _ witnessing: any CheckpointWitnessing,
        consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?, onEnd: @escaping @Sendable () -> Void
    ) {
        state.withLock { state in
            state.task = Task {
                let outcome = await Self.outcome(checkpoint, witnessing, consistency)
                self.state.withLock { $0.outcome = outcome }
                onEnd()
            }
        }
    }

    /// What a round that is over has come to.
    func take() -> Outcome? {
        state.withLock { state in
            guard let outcome = state.outcome else { return nil }
            state = State()
            return outcome
        }
    }

    /// Gives a round under way up, and returns when it has ended.
    func end() async {
        let task = state.withLock { $0.task }
        task?.cancel()
        await task?.value
    }

    private static func outcome(
        _ checkpoint: PublishedCheckpoint, _ witnessing: any CheckpointWitnessing,
        _ consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
    ) async -> Outcome {
        let gathered: [NoteSignature]
        do throws(WitnessShortfall) {
            gathered = try await witnessing.cosignatures(
                on: checkpoint.note, head: checkpoint.head, consistency: consistency)
        } catch { return .failure(.shortfall(error, size: checkpoint.head.size)) }
        do throws(NoteError) {
            let note = try SignedNote(
                text: checkpoint.note.text, signatures: checkpoint.note.signatures + gathered)
            return .success(PublishedCheckpoint(head: checkpoint.head, note: note))
        } catch { return .failure(.note(error)) }
    }
}

/// Why a round gave no checkpoint to publish.
enum LogRoundFailure: Error {
    /// Too few witnesses cosigned the checkpoint of `size` entries.
    case shortfall(WitnessShortfall, size: UInt64)
    /// The witnesses' signatures do not fit into a note.
    case note(NoteError)
}
