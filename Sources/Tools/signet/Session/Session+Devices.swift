import DeviceIdentity
import KeyTransparency
import SignetAPI
import SignetClient

/// Changes of the account's devices: the person is asked, and the log has to show what was sent.
extension Session {
    /// Adds the device that made a card. One that was added already stays as it is.
    func addDevice(_ card: LinkCard) async throws -> LookupVerdict {
        let secrets = try await secrets(for: .linkDevice)
        let verdict = try await run { client throws(ClientError) in try await client.addDevice(card, by: secrets) }
        try OwnAccount.check(verdict, try owner())
        return verdict
    }

    /// Takes the right to speak for the account from the device of a number.
    func revokeDevice(_ number: UInt16) async throws -> LookupVerdict {
        let secrets = try await secrets(for: .revokeDevice(number))
        let verdict = try await run { client throws(ClientError) in
            try await client.revokeDevice(number, by: secrets)
        }
        try OwnAccount.check(verdict, try owner())
        return verdict
    }
}

extension LinkCard {
    /// The card in a file that the user named.
    static func read(_ path: String, _ session: Session) throws -> LinkCard {
        let bytes = try InputFile.read(path, maximumByteCount: maximumByteCount)
        do { return try LinkCard(decoding: bytes, policy: session.profile.trust.policy) } catch {
            throw CommandFailure(error.status, error.sentence)
        }
    }
}
