// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization
import TransparencyLog

/// One witness as the log sees it: where it is, what size it is believed to know, how much is under way.
final class WitnessLane: Sendable {
    private struct State {
        var knownSize: UInt64 = 0
        var underWay = 0
    }

    /// More requests than this do not wait for one witness at a time.
    private static let maximumUnderWay = 4
    /// A witness that names another size again and again is not asked more often than this in a round.
    private static let maximumTries = 4

    let witness: Policy.Witness
    private let connection: WitnessConnection
    private let state = Mutex(State())

    init(_ witness: Policy.Witness, connection: WitnessConnection) {
        self.witness = witness
        self.connection = connection
    }

    func close() { connection.close() }

    /// Asks the witness, giving it the proof from the size that it says it knows.
    func cosign(_ question: WitnessQuestion) async -> (WitnessOutcome, NoteSignature?) {
        let isFree = state.withLock { state in
            guard state.underWay < Self.maximumUnderWay else { return false }
            state.underWay += 1
            return true
        }
        guard isFree else { return (.overloaded, nil) }
        defer { state.withLock { $0.underWay -= 1 } }
        do throws(WitnessFailure) { return try await converse(question) } catch { return (.failed(error), nil) }
    }

    private func converse(
        _ question: WitnessQuestion
    ) async throws(WitnessFailure) -> (WitnessOutcome, NoteSignature?) {
        var oldSize = min(state.withLock { $0.knownSize }, question.head.size)
        var answer = WitnessAnswer.malformed
        for _ in 0..<Self.maximumTries {
            guard let body = question.body(from: oldSize) else { return (.noProof(from: oldSize), nil) }
            let response = try await connection.send(body, until: question.deadline)
            answer = WitnessAnswer(status: response.status, body: response.body)
            switch answer {
            case .cosignatures(let lines): return accept(lines, question)
            case .otherSize(let latest) where latest > question.head.size: return (.ahead(size: latest), nil)
            case .otherSize(let latest) where latest != oldSize: oldSize = latest
            default: return (.refused(answer), nil)
            }
        }
        return (.refused(answer), nil)
    }

    /// Takes the witness's line out of its answer.
    private func accept(_ lines: [NoteSignature], _ question: WitnessQuestion) -> (WitnessOutcome, NoteSignature?) {
        let own = lines.filter { $0.isClaimed(by: witness.key) }
        guard let line = own.first else { return (.unknownKey, nil) }
        guard own.count == 1, let time = try? witness.key.verifyCosignature(line, of: question.note.text) else {
            return (.invalidCosignature, nil)
        }
        state.withLock { $0.knownSize = max($0.knownSize, question.head.size) }
        guard question.accepts(time) else { return (.wrongTime(time), nil) }
        return (.cosigned(time: time), line)
    }
}

/// A checkpoint that is to be cosigned.
struct WitnessQuestion: Sendable {
    let note: SignedNote
    let head: TreeHead
    let deadline: NIODeadline
    /// Seconds since 1970.
    let now: UInt64
    /// How far a witness's clock may be from ours, in seconds.
    let tolerance: UInt64
    let consistency: @Sendable (UInt64) -> ConsistencyProof?

    /// The request's body; nil if there is no proof from this size.
    func body(from oldSize: UInt64) -> [UInt8]? {
        let isTrivial = oldSize == 0 || oldSize == head.size
        guard let proof = isTrivial ? ConsistencyProof(hashes: []) : consistency(oldSize) else { return nil }
        return try? AddCheckpointRequest(oldSize: oldSize, consistency: proof, note: note).encoded
    }

    func accepts(_ time: UInt64) -> Bool { time > 0 && max(time, now) - min(time, now) <= tolerance }
}
