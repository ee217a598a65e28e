// SPDX-License-Identifier: Apache-2.0

package import LogEngine
import Synchronization
package import TransparencyLog

/// A witness on paper: cosigns what extends the last thing it cosigned, remembers permanently, and can be made
/// unreachable.
package final class PaperWitness: CheckpointWitnessing {
    private struct State {
        var head = TreeHead.empty
        var isAway = false
        var isHolding = false
        var held: [CheckedContinuation<Void, Never>] = []
        var arrivals: [CheckedContinuation<Void, Never>] = []
        var refusals: [ConsistencyProofError] = []
    }

    private let state = Mutex(State())
    /// Its key.
    package let signer: NoteSigner

    /// A witness that has seen nothing yet.
    package init() throws {
        signer = try NoteSigner(
            name: KeyName(Array("paper.example/witness".utf8)), algorithm: .cosignatureV1,
            seed: [UInt8](repeating: 44, count: 32))
    }

    /// The last head it cosigned.
    package var head: TreeHead { state.withLock { $0.head } }
    /// What it was shown that does not extend the last thing it cosigned: a fork, if there is any.
    package var refusals: [ConsistencyProofError] { state.withLock { $0.refusals } }

    /// Stops answering with cosignatures, or answers with them again.
    package func goAway(_ isAway: Bool = true) { state.withLock { $0.isAway = isAway } }

    /// Does not answer until ``release()``.
    package func hold() { state.withLock { $0.isHolding = true } }

    /// Answers all waiting requests.
    package func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for waiter in held { waiter.resume() }
    }

    /// Returns when a checkpoint is being held.
    package func awaitArrival() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.held.isEmpty { state.arrivals.append(continuation) }
                return !state.held.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    /// Cosigns what extends the last thing it cosigned.
    package func cosignatures(
        on note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
    ) async throws(WitnessShortfall) -> [NoteSignature] {
        await wait()
        let known = state.withLock { $0.isAway ? nil : $0.head }
        guard let known, let proof = consistency(known.size) else { throw shortfall }
        if known.size > 0 {
            do { try proof.verify(from: known, to: head) } catch {
                state.withLock { $0.refusals.append(error) }
                throw shortfall
            }
        }
        state.withLock { $0.head = head }
        do { return [try signer.cosign(note.text, time: 1_700_000_000)] } catch { throw shortfall }
    }

    private var shortfall: WitnessShortfall { WitnessShortfall(missing: [signer.verifierKey.name]) }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let (goesOn, arrivals) = state.withLock { state in
                guard state.isHolding else { return (true, [CheckedContinuation<Void, Never>]()) }
                state.held.append(continuation)
                defer { state.arrivals = [] }
                return (false, state.arrivals)
            }
            if goesOn { continuation.resume() }
            for waiter in arrivals { waiter.resume() }
        }
    }
}
