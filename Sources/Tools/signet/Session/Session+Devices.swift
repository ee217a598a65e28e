import DeviceIdentity
import KeyTransparency
import SignetAPI
import SignetClient

/// Changes of the account's devices: the person is asked, and the log has to show what was sent.
extension Session {
    /// Adds the device that made a card.
    func addDevice(_ card: DeviceCard) async throws -> LookupVerdict {
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

extension DeviceCard {
    /// The card in a file that the user named.
    static func read(_ path: String) throws -> DeviceCard {
        let bytes = try InputFile.read(path, maximumByteCount: 4096)
        do { return try DeviceCard(decoding: bytes) } catch { throw CommandFailure(.badFile, error.sentence) }
    }
}
