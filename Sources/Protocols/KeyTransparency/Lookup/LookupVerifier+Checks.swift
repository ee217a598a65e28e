import CanonicalCoding
import TransparencyLog
import VRF

// One function a check, in the order of the page. Each returns what the next ones may rely on.
extension LookupVerifier {
    func checkEnvelope(_ bytes: [UInt8]) throws(LookupError) -> LookupResponse {
        do { return try LookupResponse(decoding: bytes) } catch { throw .envelope(error) }
    }

    /// Without this the server could answer for alice with mallory's logged pair.
    func checkVRF(_ response: LookupResponse, _ handle: Handle) throws(LookupError) -> VRFHash {
        do { return try trust.vrfKey.verify(response.vrfProof, for: handle.vrfInput) } catch {
            throw .vrf(error)
        }
    }

    func checkAccountState(
        _ response: LookupResponse, _ handle: Handle
    ) throws(LookupError) -> AccountState {
        let state: AccountState
        do { state = try AccountState(decoding: response.state) } catch { throw .accountState(error) }
        guard state.handle == handle else { throw .anotherAccount(state.handle) }
        guard response.kind != .close else { throw .accountClosed(version: state.version) }
        return state
    }

    /// The entries are built here, not received: label, keys, version and commitment all flow into
    /// hashes that the log must hold.
    func checkLeaves(
        _ response: LookupResponse, _ label: VRFHash, _ state: AccountState
    ) throws(LookupError) -> [LookupLeaf] {
        guard response.deviceInclusions.count == state.devices.count else {
            throw .leafCount(expected: state.devices.count, received: response.deviceInclusions.count)
        }
        let record = StateRecord(
            label: LabelIndex(label), version: state.version, kind: response.kind,
            commitment: StateCommitment(to: state, opening: response.opening))
        let stateLeaf = LookupLeaf(content: .state(record), inclusion: response.stateInclusion)
        return [stateLeaf]
            + zip(state.devices, response.deviceInclusions).map { device, inclusion in
                LookupLeaf(
                    content: .device(DeviceLeaf(label: label, device: device.keys)), inclusion: inclusion)
            }
    }

    func checkNote(_ response: LookupResponse) throws(LookupError) -> SignedNote {
        do { return try SignedNote(decoding: response.note) } catch { throw .note(error) }
    }

    func checkCheckpointText(_ note: SignedNote) throws(LookupError) -> Checkpoint {
        do { return try Checkpoint(decoding: note.text) } catch { throw .checkpointText(error) }
    }

    func checkOrigin(_ checkpoint: Checkpoint) throws(LookupError) {
        guard (try? trust.policy.logs(for: checkpoint)) != nil else { throw .origin(checkpoint.origin) }
    }

    func checkLogSignature(_ note: SignedNote) throws(LookupError) -> LogSignedCheckpoint {
        do { return try trust.policy.verifyLogSignature(on: note) } catch { throw .logSignature(error) }
    }

    func checkCosignatures(_ signed: LogSignedCheckpoint) throws(LookupError) -> VerifiedCheckpoint {
        do { return try trust.policy.verifyCosignatures(on: signed) } catch { throw .cosignatures(error) }
    }

    /// The part of the consistency check that needs no proof, before anything else can fail: two signed heads that
    /// contradict each other are evidence whatever the rest of the answer is.
    func checkNoContradiction(_ checkpoint: VerifiedCheckpoint, _ view: LogView?) throws(LookupError) {
        do { try view?.checkNoContradiction(checkpoint) } catch { throw .consistency(error) }
    }

    func checkInclusion(
        _ response: LookupResponse, _ leaves: [LookupLeaf], _ checkpoint: VerifiedCheckpoint
    ) throws(LookupError) {
        for (place, leaf) in leaves.enumerated() {
            do {
                try leaf.inclusion.verify(leaf: .leaf(leaf.entry), in: checkpoint.checkpoint.head)
            } catch { throw .inclusion(leaf: place, error) }
        }
    }

    func checkFreshness(_ checkpoint: VerifiedCheckpoint, _ now: UInt64) throws(LookupError) -> UInt64 {
        do { return try trust.freshness.age(of: checkpoint.quorumTime, at: now) } catch {
            throw .freshness(error)
        }
    }

    func checkConsistency(
        _ response: LookupResponse, _ checkpoint: VerifiedCheckpoint, _ view: LogView?
    ) throws(LookupError) -> LogView {
        guard let view, view.origin == checkpoint.checkpoint.origin else {
            guard response.consistency.hashes.isEmpty else { throw .uncalledForConsistencyProof }
            return LogView(checkpoint)
        }
        do { return try view.advanced(to: checkpoint, proof: response.consistency) } catch {
            throw .consistency(error)
        }
    }
}
