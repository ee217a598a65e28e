// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import VRF

/// An attacker with their own keys who wants to be taken for another person.
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

    /// A state that seems to follow the victim's, or to skip this many versions after it.
    func state(after victim: AccountState, skipping skipped: UInt64 = 0) throws -> AccountState {
        try sign(
            AccountStateBody(
                handle: victim.handle, version: victim.version + 1 + skipped, previous: victim.hash,
                identityKey: identityKey, recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil,
                devices: [device]))
    }

    /// A state with the victim's own devices and another identity.
    func state(takingOver victim: AccountState) throws -> AccountState {
        try sign(
            AccountStateBody(
                handle: victim.handle, version: victim.version + 1, previous: victim.hash, identityKey: identityKey,
                recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil, devices: victim.devices))
    }

    /// The impostor's device under any label.
    func leaf(_ label: VRFHash) -> DeviceLeaf { DeviceLeaf(label: label, device: device.keys) }

    /// The record of a state that the impostor made.
    func record(_ state: AccountState, _ label: VRFHash, kind: StateKind) -> StateRecord {
        StateRecord(
            label: LabelIndex(label), version: state.version, kind: kind,
            commitment: StateCommitment(to: state, opening: opening))
    }

    /// What an answer shows about such a state.
    func step(_ state: AccountState, kind: StateKind) -> LabelAnswer.Step {
        .state(kind, opening: opening, encoded: state.encodedWithKeys)
    }

    private var identityKey: [UInt8] { Array(identity.publicKey.compressedRepresentation) }

    private func sign(_ body: AccountStateBody) throws -> AccountState {
        let state = try AccountState(signing: body) { try Array(identity.signature(for: $0).rawRepresentation) }
        return state.completed { hash in body.devices.first { $0.keys.hash == hash }?.keys.kem }
    }
}
