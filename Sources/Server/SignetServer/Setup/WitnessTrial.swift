// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import LogEngine
import LogWitness
import TransparencyLog

/// Asks the witnesses of another policy whether they serve a log, before the log depends on them: others, or those of before by the log's
/// next key.
///
/// A quorum that cannot be met stops the log, and changing it again needs that quorum.
struct WitnessTrial {
    let data: DataDirectory
    /// Root certificates to trust beside the system's, PEM.
    let roots: [UInt8]
    /// What the log signed last, where it is shared; nil: it is in the files of this machine.
    var shared: (note: SignedNote, head: TreeHead)?

    /// Sends each witness the checkpoint that the log signed last, signed by its next key.
    ///
    /// - Parameters:
    ///   - policy: with the next key.
    ///   - own: the keys with which the log's server cosigns itself.
    /// - Throws: ``KeyRotationError/witnessesSilent(_:)``.
    func run(_ policy: Policy, signedBy next: NoteSigner, own: [VerifierKey]) async throws(KeyRotationError) {
        guard let head = (shared ?? files)?.head else { return }
        var trial = self
        do throws(LogSigningError) {
            let configuration = LogConfiguration(signer: next, cosigners: [], clock: ServerClock.system.time)
            trial.shared = (try configuration.sign(head).note, head)
        } catch { throw .signing(error) }
        try await trial.run(policy, own: own)
    }

    /// Sends each witness the checkpoint that the log signed last. One that has never seen this log answers with the size 0.
    ///
    /// - Parameters:
    ///   - policy: the other policy.
    ///   - own: the keys with which the log's server cosigns itself.
    /// - Throws: ``KeyRotationError/witnessesSilent(_:)``: those that serve the log are not a quorum.
    func run(_ policy: Policy, own: [VerifierKey]) async throws(KeyRotationError) {
        // A log that cannot be read is refused in words when it is opened.
        guard let signed = shared ?? files else { return }
        var configuration = WitnessQuorum.Configuration()
        configuration.additionalRoots = roots
        let answers: [Policy.Name: WitnessMemory]
        do {
            answers = try await WitnessMemory.all(
                of: policy, on: signed.note, head: signed.head, configuration: configuration)
        } catch { throw .stored(.witnessRoots(error)) }
        let silent = policy.witnesses.filter { !own.contains($0.key) }.reduce(into: [Policy.Name: String]()) {
            $0[$1.name] = Self.fault(answers[$1.name])
        }
        guard policy.isQuorumMet(by: Set(policy.witnesses.map(\.name)).subtracting(silent.keys)) else {
            throw .witnessesSilent(silent)
        }
    }

    private var files: (note: SignedNote, head: TreeHead)? {
        (try? LogCopy(of: data.log).signedHead()).map { ($0.note, $0.head) }
    }

    /// Why a witness cannot be counted on; nil if it can. Any answer but that it does not know the log shows that there is a witness.
    private static func fault(_ answer: WitnessMemory?) -> String? {
        switch answer {
        case nil: "not_addressed"
        case .unknown(let outcome):
            switch outcome {
            case .failed, .refused(.unknownLog), .refused(.signatureRefused): outcome.label
            default: nil
            }
        case .notAhead, .ahead, .otherTree: nil
        }
    }
}
