public import KeyTransparency
import SignetAPI
import TransparencyLog

extension Client {
    /// Fetches somebody's device keys as an eCall client does, and checks each by the guide's algorithm: over the pinned connection,
    /// without a signature, remembering nothing.
    ///
    /// - Parameter logKey: the raw Ed25519 key that the guide pins as `KT_PUBLIC_KEY`, 32 bytes; nil for the directory's own.
    /// - Returns: one for each device that the server names; ``ECallVerifiedKey/unproven`` says what is left open.
    /// - Throws: ``ClientError``; ``ClientError/withheld(_:)``: the server names no device, and this lookup proves no absence;
    ///   ``ClientError/eCall(_:)``: one entry fails, and none is returned;
    ///   ``ClientError/misuse(_:)``: `logKey` is no such key.
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

    /// By one of the log's keys; it has two while one takes the other's place.
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
