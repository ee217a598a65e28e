import DeviceIdentity
import DeviceKeystores
import SignetClient

/// Asks for the passphrase, by name of what it is for, and opens the account's keys with it.
actor AccountPresence: Presence {
    private let options: HomeOptions
    private let keystore: SignetClient.Keystore
    private(set) var secrets: DeviceSecrets?
    private(set) var fault: CommandFailure?

    init(_ options: HomeOptions, _ keystore: SignetClient.Keystore) {
        self.options = options
        self.keystore = keystore
    }

    func answer(_ prompt: PresencePrompt) async -> PresenceOutcome {
        do {
            secrets = try keystore.open(with: Passphrase.existing(options, prompt.action.purpose))
            return .present
        } catch SignetClient.KeystoreError.wrongPassphraseOrDamaged {
            return .failed
        } catch let error as SignetClient.KeystoreError {
            fault = CommandFailure(error, path: options.folder.keystore.path)
        } catch let failure as CommandFailure { fault = failure } catch {}
        return .declined
    }
}

extension Session {
    /// The device's keys, after the person was asked by name of the action. Wrong answers are remembered.
    func secrets(for action: PresenceAction) async throws -> DeviceSecrets {
        let presence = AccountPresence(options, try owner())
        let desk = PresenceDesk(asking: presence, remembering: home.presence)
        do throws(PresenceRefusal) {
            _ = try await desk.grant(for: action, unlocking: true).action
            guard let secrets = await presence.secrets else { throw .locked }
            return secrets
        } catch {
            if let fault = await presence.fault { throw fault }
            throw CommandFailure(error)
        }
    }
}
