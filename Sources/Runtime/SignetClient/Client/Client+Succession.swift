public import KeyTransparency
import SignetAPI

extension Client {
    /// Asks whether the directory has changed its keys since this client's profile was made, and follows the changes.
    ///
    /// Nothing is stored: whoever calls this keeps ``SignetAPI/DirectoryProfile/following(_:)`` and makes a new client
    /// of it, after asking the user if the quorum is weakened.
    ///
    /// - Returns: nil if nothing has changed.
    /// - Throws: ``ClientError``; ``ClientError/succession(_:)``: a change does not hold under the trust before it.
    public func succession() async throws(ClientError) -> VerifiedSuccession? {
        guard let bytes = try await calls.succession() else { return nil }
        do {
            return try SuccessionVerifier(trust: profile.trust).follow(SuccessionChain(decoding: bytes))
        } catch { throw .succession(error) }
    }
}

extension ClientError {
    /// Whether this is what a client meets whose directory has changed its keys.
    public var mayBeSuccession: Bool {
        guard case .lookup(let refusal) = self else { return false }
        switch refusal.error.check {
        case .origin, .logSignature, .cosignatures: return true
        default: return false
        }
    }
}
