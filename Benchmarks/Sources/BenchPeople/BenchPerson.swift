// SPDX-License-Identifier: Apache-2.0

import Crypto
public import KeyDirectory
import KeyTransparency
import SignetAPI

/// A person with new keys who registers as a client does, without the network between.
public struct BenchPerson: Sendable {
    private let handle: Handle
    private let signing = Curve25519.Signing.PrivateKey()
    private let agreement = P256.KeyAgreement.PrivateKey()
    private let identity = P256.Signing.PrivateKey()
    private let kem: XWingMLKEM768X25519.PrivateKey
    private let keys: DeviceKeys

    /// The person whose handle is user`number`@example.org.
    public init(number: Int) throws {
        handle = try Handle(typed: Array("user\(number)@example.org".utf8))
        kem = try XWingMLKEM768X25519.PrivateKey.generate()
        keys = try DeviceKeys(
            signing: Array(signing.publicKey.rawRepresentation),
            agreement: Array(agreement.publicKey.compressedRepresentation),
            kem: Array(kem.publicKey.rawRepresentation))
    }

    /// Makes the request and has the directory take it.
    public func register(in directory: Directory, at now: UInt64) async throws {
        try await prepare(for: directory, at: now).send(to: directory)
    }

    /// All of a client's work: answers the directory's challenge and signs. Good for as long as the directory believes its time.
    public func prepare(for directory: Directory, at now: UInt64) async throws -> PreparedRegistration {
        let submission = try StateSubmission(
            state: try state(at: now), opening: Self.random(StateCommitment.byteCount),
            cards: [try await card(from: directory)])
        let content = RequestSignature.Content(.register, origin: directory.origin, body: submission.encoded)
        let signature = try RequestSignature(
            content, deviceKey: keys.signing, time: now, nonce: Self.random(16)
        ) { (message: [UInt8]) throws -> [UInt8] in Array(try signing.signature(for: message)) }
        return PreparedRegistration(submission: submission, signature: signature, content: content)
    }

    private func state(at now: UInt64) throws -> AccountState {
        let body = AccountStateBody(
            first: handle, identityKey: Array(identity.publicKey.compressedRepresentation),
            devices: [DeviceRecord(number: 1, addedAt: now, keys: keys)])
        return try AccountState(signing: body) { Array(try identity.signature(for: $0).rawRepresentation) }
    }

    private func card(from directory: Directory) async throws -> DeviceCard {
        let request = PossessionRequest(handle: handle, keys: keys)
        let challenge = try await directory.challenge(request)
        let proof = try challenge.answer(for: request, agreementKey: agreement, kemKey: kem)
        return try DeviceCard(request, proof: proof) { Array(try signing.signature(for: $0)) }
    }

    /// That many bytes from the system's generator.
    private static func random(_ count: Int) -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }
}

/// A registration of which only the server's part is left.
public struct PreparedRegistration: Sendable {
    let submission: StateSubmission
    let signature: RequestSignature
    let content: RequestSignature.Content

    /// Returns when the directory shows the account in a published log.
    public func send(to directory: Directory) async throws {
        _ = try await directory.register(submission, signature, content)
    }
}
