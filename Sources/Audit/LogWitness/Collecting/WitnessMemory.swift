// SPDX-License-Identifier: Apache-2.0

import NIOCore
public import TransparencyLog

/// What a witness remembers of a log, compared with what the log itself remembers.
public enum WitnessMemory: Hashable, Sendable {
    /// It cosigned no later checkpoint than this log has: it knows this many entries.
    ///
    /// - at: its clock's time, in seconds since 1970, if it has cosigned the same checkpoint once more; nil: it knows an earlier one.
    case notAhead(size: UInt64, at: UInt64?)
    /// It cosigned a checkpoint of more entries than the log has: the log went back.
    case ahead(size: UInt64)
    /// It cosigned another tree of the same size: there are two logs of this name.
    case otherTree
    /// It was not reached, or its answer says nothing of what it cosigned.
    case unknown(WitnessOutcome)
}

extension WitnessMemory {
    /// Asks the witnesses that a policy names with an address, all at once, what they cosigned last of a log.
    ///
    /// Each is sent the checkpoint that the log signed last, as an extension of itself: a witness that knows another size names it,
    /// and one that knows this one cosigns it once more. So nothing is signed by the log, and the witness learns nothing new.
    ///
    /// - Parameters:
    ///   - note: the checkpoint that the log signed last.
    ///   - head: its size and root.
    ///   - configuration: how long to wait, and whom to trust.
    /// - Throws: ``WitnessRootsError``: the additional roots are not certificates, or a witness has an https address and the system has none.
    /// Security: the size that a witness names is not signed: a lying one can keep a log from going on, as it can by its silence.
    /// Spec: C2SP tlog-witness v1.0.0, "add-checkpoint".
    public static func all(
        of policy: Policy, on note: SignedNote, head: TreeHead,
        configuration: WitnessQuorum.Configuration = WitnessQuorum.Configuration()
    ) async throws(WitnessRootsError) -> [Policy.Name: WitnessMemory] {
        let tls = try WitnessQuorum.context(for: policy, configuration.additionalRoots)
        let proof = ConsistencyProof(hashes: [])
        guard let body = try? AddCheckpointRequest(oldSize: head.size, consistency: proof, note: note).encoded else {
            return [:]
        }
        let deadline = NIODeadline.now() + TimeAmount(configuration.timeout)
        return await withTaskGroup(of: (Policy.Name, WitnessMemory).self) { group in
            for witness in policy.witnesses {
                guard let address = witness.url.flatMap(WitnessAddress.init) else { continue }
                let connection = WitnessConnection(to: address, tls: tls)
                group.addTask {
                    defer { connection.close() }
                    return (
                        witness.name, await ask(connection, body, until: deadline, knowing: head, note, witness.key)
                    )
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    private static func ask(
        _ connection: WitnessConnection, _ body: [UInt8], until deadline: NIODeadline, knowing head: TreeHead,
        _ note: SignedNote, _ key: VerifierKey
    ) async -> WitnessMemory {
        do throws(WitnessFailure) {
            let response = try await connection.send(body, until: deadline)
            return WitnessMemory(WitnessAnswer(status: response.status, body: response.body), to: head, note, key)
        } catch { return .unknown(.failed(error)) }
    }

    /// What an answer says.
    init(_ answer: WitnessAnswer, to head: TreeHead, _ note: SignedNote, _ key: VerifierKey) {
        switch answer {
        case .cosignatures(let lines):
            let times = lines.filter { $0.isClaimed(by: key) }.compactMap {
                try? key.verifyCosignature($0, of: note.text)
            }
            self = times.max().map { .notAhead(size: head.size, at: $0) } ?? .unknown(.unknownKey)
        case .otherSize(let latest) where latest > head.size: self = .ahead(size: latest)
        case .otherSize(let latest) where latest < head.size: self = .notAhead(size: latest, at: nil)
        case .inconsistent: self = .otherTree
        default: self = .unknown(.refused(answer))
        }
    }
}
