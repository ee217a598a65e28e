import DeviceIdentity
import DeviceKeystores
import SignetClient

/// Asks for the passphrase, by name of what it is for, and opens the account's keys with it.
actor AccountPresence: Presence {
    private let options: HomeOptions
    private let keystore: SignetClient.Keystore
    private(set) var opened: OpenedKeys?
    private(set) var fault: CommandFailure?

    init(_ options: HomeOptions, _ keystore: SignetClient.Keystore) {
        self.options = options
        self.keystore = keystore
    }

    func answer(_ prompt: PresencePrompt) async -> PresenceOutcome {
        do {
            let passphrase = try Passphrase.existing(options, prompt.action.purpose)
            opened = OpenedKeys(secrets: try keystore.open(with: passphrase), passphrase: passphrase)
            return .present
        } catch SignetClient.KeystoreError.wrongPassphraseOrDamaged {
            return .failed
        } catch let error as SignetClient.KeystoreError {
            fault = CommandFailure(error, path: options.folder.keystore.path)
        } catch let failure as CommandFailure { fault = failure } catch {}
        return .declined
    }
}

/// What the person's answer opened, for the one action that they were asked about.
struct OpenedKeys: Sendable {
    let secrets: DeviceSecrets
    /// Opens what else is under it: the keys to sites.
    let passphrase: SecretBytes
}

extension Session {
    /// The device's keys, after the person was asked by name of the action. Wrong answers are remembered.
    func secrets(for action: PresenceAction) async throws -> DeviceSecrets {
        try await granted(action) { opened, _ in opened.secrets }
    }

    /// Asks the person by name of the action, and does it with the keys and the one grant that their answer is good for.
    /// Wrong answers are remembered, and after five of them each costs a longer wait.
    func granted<Value>(
        _ action: PresenceAction, _ body: (OpenedKeys, consuming PresenceGrant) async throws -> Value
    ) async throws -> Value {
        let presence = AccountPresence(options, try owner())
        let desk = PresenceDesk(asking: presence, remembering: home.presence)
        let grant: PresenceGrant
        do throws(PresenceRefusal) { grant = try await desk.grant(for: action, unlocking: true) } catch {
            if let fault = await presence.fault { throw fault }
            throw CommandFailure(error)
        }
        guard let opened = await presence.opened else { throw CommandFailure(PresenceRefusal.locked) }
        return try await body(opened, grant)
    }
}
