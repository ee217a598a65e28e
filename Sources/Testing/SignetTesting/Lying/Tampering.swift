// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog
import VerifiableMap

// An honest answer with one part replaced.
extension LookupResponse {
    func with(note: [UInt8]) -> LookupResponse {
        LookupResponse(
            vrfProof: vrfProof, epoch: epoch, epochPath: epochPath, answer: answer, consistency: consistency,
            note: note)
    }

    func with(epoch: EpochRecord) -> LookupResponse {
        LookupResponse(
            vrfProof: vrfProof, epoch: epoch, epochPath: epochPath, answer: answer, consistency: consistency,
            note: note)
    }

    func with(answer: Answer) -> LookupResponse {
        LookupResponse(
            vrfProof: vrfProof, epoch: epoch, epochPath: epochPath, answer: answer, consistency: consistency,
            note: note)
    }

    func with(step: LabelAnswer.Step) throws -> LookupResponse {
        with(answer: .present(try label.with(step: step)))
    }

    /// What the answer says about the label.
    var label: LabelAnswer {
        get throws {
            guard case .present(let label) = answer else { throw ForgeryError.noTarget }
            return label
        }
    }

    /// The account without its last device, still with the signature over the whole.
    var stepWithoutLastDevice: LabelAnswer.Step {
        get throws {
            guard case .state(let kind, let opening, let encoded) = try label.step else { throw ForgeryError.noTarget }
            let devices = try AccountState(decodingWithKeys: encoded).devices
            let state = AccountState.withoutKeys(encoded)
            // u16 number, u64 time, 97 bytes of keys; before them their count, after them 64 bytes of signature.
            let (length, end) = (107, state.count - 64)
            var cut = Array(state[..<(end - length)]) + Array(state[end...])
            cut[end - length * devices.count - 1] -= 1
            return .state(kind, opening: opening, encoded: cut)
        }
    }
}

extension LabelAnswer {
    func with(step: Step) -> LabelAnswer {
        LabelAnswer(
            indexPath: indexPath, head: head, lastPath: lastPath, historyConsistency: historyConsistency,
            inclusion: inclusion, step: step)
    }
}

extension LookupResponse {
    /// What would be said of an account that was never logged: a history with one entry.
    func label(inventing step: LabelAnswer.Step) throws -> LabelAnswer {
        guard case .state(_, _, let encoded) = step else { throw ForgeryError.noTarget }
        let head = LabelHead(TreeHead(size: 1, root: .leaf(encoded)))
        let path =
            switch answer {
            case .present(let label): label.indexPath
            case .absent(.absent(beside: _, path: let path)): path
            case .absent: try MapPath([])
            }
        return LabelAnswer(
            indexPath: path, head: head, lastPath: [], historyConsistency: ConsistencyProof(hashes: []),
            inclusion: InclusionProof(index: 0, hashes: []), step: step)
    }
}
