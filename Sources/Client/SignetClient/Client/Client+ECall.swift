// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
import TransparencyLog

extension Client {
    /// Fetches a person's device keys as an eCall client does, and checks each by the guide's algorithm: over the pinned
    /// connection, without a signature, and without remembering anything.
    ///
    /// - Parameter logKey: the raw Ed25519 key that the guide pins as `KT_PUBLIC_KEY`, 32 bytes; nil for the directory's own.
    /// - Returns: one key for each device that the server names; ``ECallVerifiedKey/unproven`` says what is left unproven.
    /// - Throws: ``ClientError``; ``ClientError/withheld(_:)`` if the server names no device, because this lookup cannot prove
    ///   absence; ``ClientError/eCall(_:)`` if one entry fails, and then no key is returned; ``ClientError/misuse(_:)`` if
    ///   `logKey` is not such a key.
    /// Spec: eCall Key Transparency guide, "iOS Execution Flow" and "The Verification Algorithm".
    public func eCallKeys(of handle: Handle, logKey: [UInt8]? = nil) async throws(ClientError) -> [ECallVerifiedKey] {
        let keys = logKey.map { [$0] } ?? profile.trust.policy.logs.map(\.publicKey)
        let verifiers = try keys.map { (key) throws(ClientError) in
            do { return try ECallVerifier(origin: origin, logKey: key) } catch { throw .misuse(.notALogKey) }
        }
        let entries = try await calls.eCallKeys(ECallRequest(targets: [handle.description]))
        guard !entries.isEmpty else { throw .withheld(handle) }
        guard entries.count <= AccountState.maximumDeviceCount else { throw .malformedAnswer(.eCallKeys) }
        return try entries.map { (entry) throws(ClientError) in try Self.verify(entry, verifiers) }
    }

    /// Verifies with one of the log's keys; the log has two while one replaces the other.
    private static func verify(
        _ entry: ECallEntry, _ verifiers: [ECallVerifier]
    ) throws(ClientError) -> ECallVerifiedKey {
        var failure = ECallError.signatureVerificationFailed
        for verifier in verifiers {
            do {
                return try verifier.verifyPeerKey(
                    publicKey: Array(entry.publicKey.utf8), proof: Array(entry.proof.utf8),
                    vrfHash: Array(entry.vrfHash.utf8))
            } catch { failure = error }
        }
        throw .eCall(failure)
    }
}
