// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import TransparencyLog

extension PaperScene {
    /// What became of an answer about alice, or about `handle`.
    func verify(
        _ answer: PaperAnswer, _ handle: Handle? = nil, knowing view: LogView? = nil,
        history: LabelHead? = nil, at now: UInt64 = PaperDirectory.now, quorum: Policy.Quorum? = nil
    ) throws(LookupError) -> VerifiedAnswer {
        let verifier: LookupVerifier
        do { verifier = try directory.verifier(quorum: quorum) } catch { throw .uncalledForConsistencyProof }
        return try verifier.verify(
            answer.response.encoded, for: handle ?? alice.handle, knowing: view, history: history, at: now)
    }

    /// The same, of an answer that must show keys.
    func registered(
        _ answer: PaperAnswer, _ handle: Handle? = nil, knowing view: LogView? = nil, history: LabelHead? = nil
    ) throws -> VerifiedLookup {
        guard case .registered(let lookup) = try verify(answer, handle, knowing: view, history: history) else {
            throw PaperFault.notThere
        }
        return lookup
    }
}
