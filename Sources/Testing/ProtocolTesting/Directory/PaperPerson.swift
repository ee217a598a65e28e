// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import KeyTransparency
package import VRF

/// A person with an identity key and devices, able to sign any state, also a wrong one.
package struct PaperPerson: Sendable {
    /// Who.
    package let handle: Handle
    /// Their identity key.
    package var identity: P256.Signing.PrivateKey
    /// Their devices.
    package var devices: [DeviceRecord]
    /// The version of ``encodedState``.
    package var version: UInt64 = 1
    /// What their last step is logged as.
    package var kind = StateKind.set
    /// Whether the X-Wing keys are sent beside the state.
    package var sendsKeys = false
    /// The opening of every commitment of theirs, 32 bytes.
    package let opening: [UInt8]
    /// The state that is committed to, with any content.
    package var encodedState: [UInt8] = []
    /// Signatures made earlier, by the SHA-256 of what they sign: ECDSA never gives the same one twice.
    package let recorded: [[UInt8]: [UInt8]]

    /// A person whose keys come from a seed.
    package init(
        _ name: String, seed: UInt8, deviceCount: Int = 2, recorded: [[UInt8]: [UInt8]] = [:]
    ) throws {
        handle = try Handle(typed: Array(name.utf8))
        identity = try P256.Signing.PrivateKey(rawRepresentation: Array(repeating: seed, count: 32))
        devices = try (1...deviceCount).map { try Self.device(UInt16($0), seed: seed &+ UInt8($0)) }
        opening = Array(repeating: seed ^ 0x55, count: 32)
        self.recorded = recorded
        encodedState = try state().encoded
    }

    /// A device whose keys come from a seed.
    package static func device(_ number: UInt16, seed: UInt8) throws -> DeviceRecord {
        let bytes = Array(repeating: seed, count: 32)
        return DeviceRecord(
            number: number, addedAt: 1_790_000_000 + UInt64(number),
            keys: try DeviceKeys(
                signing: Array(
                    Curve25519.Signing.PrivateKey(rawRepresentation: bytes).publicKey.rawRepresentation),
                agreement: Array(
                    P256.KeyAgreement.PrivateKey(rawRepresentation: bytes).publicKey
                        .compressedRepresentation),
                kem: Array(repeating: seed, count: 1216)))
    }

    /// Their first state, unsigned.
    package func body() -> AccountStateBody {
        AccountStateBody(
            first: handle, identityKey: Array(identity.publicKey.compressedRepresentation), devices: devices)
    }

    /// Their first state.
    package func state() throws -> AccountState { try sign(body(), by: identity) }

    /// The same person after a change of devices, or a person who takes their place with another identity.
    package func next(
        devices: [DeviceRecord]? = nil, identity: P256.Signing.PrivateKey? = nil
    ) throws -> PaperPerson {
        var next = self
        next.identity = identity ?? self.identity
        next.devices = devices ?? self.devices
        let before = try AccountState(decoding: encodedState)
        let state = try sign(
            AccountStateBody(
                handle: handle, version: before.version + 1, previous: before.hash,
                identityKey: Array(next.identity.publicKey.compressedRepresentation), recoveryCommitment: nil,
                pendingRecovery: nil, accountHead: nil, devices: next.devices), by: next.identity)
        next.version = state.version
        next.encodedState = state.encoded
        return next
    }

    /// The end of the account.
    package func closed() -> PaperPerson {
        var closed = self
        closed.kind = .close
        closed.version += 1
        closed.devices = []
        return closed
    }

    private func sign(_ body: AccountStateBody, by key: P256.Signing.PrivateKey) throws -> AccountState {
        try AccountState(signing: body) {
            try recorded.signature(of: $0, by: key)
        }
    }
}

// MARK: What is logged and sent

extension PaperPerson {
    /// The log entries of the devices.
    package func leaves(_ label: VRFHash) -> [[UInt8]] {
        devices.map { DeviceLeaf(label: label, device: $0.keys).entry }
    }

    /// Commits to ``encodedState`` with any content; the library commits only to a state it has read.
    package func record(_ label: VRFHash) throws -> StateRecord {
        if kind == .close { return StateRecord(closing: LabelIndex(label), version: version) }
        let code = HMAC<SHA256>.authenticationCode(for: encodedState, using: SymmetricKey(data: opening))
        guard let commitment = StateCommitment(Array(code)) else { throw PaperFault.notThere }
        return StateRecord(label: LabelIndex(label), version: version, kind: kind, commitment: commitment)
    }

    /// What an answer says of the last step.
    package var step: LabelAnswer.Step {
        kind == .close ? .closed(version: version) : .state(kind, opening: opening, encoded: sentState)
    }

    private var sentState: [UInt8] {
        guard sendsKeys, let state = try? AccountState(decoding: encodedState) else { return encodedState }
        return state.completed { hash in devices.first { $0.keys.hash == hash }?.keys.kem }.encodedWithKeys
    }
}
