import Crypto
import KeyDirectory
import KeyTransparency
import TransparencyLog
import VRF

/// Somebody with keys of their own who would like to be taken for another person.
struct Impostor {
    private let identity = P256.Signing.PrivateKey()
    private let device: DeviceRecord
    let opening = (0..<32).map { _ in UInt8.random(in: 0...255) }

    init() throws {
        device = DeviceRecord(
            number: 1, addedAt: 1,
            keys: try DeviceKeys(
                signing: Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation),
                agreement: Array(P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation),
                kem: Array(XWingMLKEM768X25519.PrivateKey.generate().publicKey.rawRepresentation)))
    }

    /// A first state under any handle, signed by the impostor.
    func state(as handle: Handle) throws -> AccountState {
        try sign(AccountStateBody(first: handle, identityKey: identityKey, devices: [device]))
    }

    /// A state that seems to follow the victim's.
    func state(after victim: AccountState) throws -> AccountState {
        try sign(
            AccountStateBody(
                handle: victim.handle, version: victim.version + 1, previous: victim.hash,
                identityKey: identityKey, recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil,
                devices: [device]))
    }

    /// Logs a state of the impostor's under the handle's true label, and answers with it: everything in
    /// the answer holds but the person.
    func answer(
        to request: LookupRequest, with state: AccountState, kind: StateKind, in directory: Directory,
        vrf: VRFPrivateKey
    ) async throws -> LookupResponse {
        let (label, proof) = try vrf.prove(state.handle.vrfInput)
        let record = StateRecord(
            label: LabelIndex(label), version: state.version, kind: kind,
            commitment: StateCommitment(to: state, opening: opening))
        let entries = [DeviceLeaf(label: label, device: device.keys).entry, record.entry]
        let indices = try await directory.log.append(entries)
        _ = try await directory.log.awaitPublished(size: indices.upperBound)
        return try directory.lookup(
            request, under: label, proof, as: .state(kind, opening: opening, encoded: state.encoded))
    }

    private var identityKey: [UInt8] { Array(identity.publicKey.compressedRepresentation) }

    private func sign(_ body: AccountStateBody) throws -> AccountState {
        try AccountState(signing: body) { try Array(identity.signature(for: $0).rawRepresentation) }
    }
}
