// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
import DeviceKeystores
public import SecretMemory
public import SignetClient

/// Asks the user for the passphrase, and says what it is for. Nil means that the user cancelled the prompt.
public typealias PassphraseQuestion = @Sendable (PresenceAction) async -> SecretBytes?

/// The user's approval of one action, given with the passphrase. It cannot be copied, and the approved action consumes it.
///
/// Security: only ``OpenHome/approval(of:asking:)`` makes one, after the user answered a prompt that named the action. It is
/// valid only for that action, in the account whose passphrase was given.
public struct Approval: ~Copyable, Sendable {
    /// The account's keys, opened with the passphrase.
    package let secrets: DeviceSecrets
    /// Opens other data that is sealed under it, such as the keys to sites.
    package let passphrase: SecretBytes
    let grant: PresenceGrant

    /// The action that the user approved.
    public var action: PresenceAction { grant.action }

    /// The grant without the keys.
    package consuming func takeGrant() -> PresenceGrant { grant }
}

extension OpenHome {
    /// Asks the user to approve an action, by its name. Wrong answers are remembered. After five of them, each further one
    /// costs a longer wait; restarting the program does not make guessing cheaper.
    ///
    /// - Throws: ``SignetError``: ``SignetError/noAccount(folder:)``, ``SignetError/presence(_:)``, ``SignetError/keystore(_:path:)``.
    public func approval(
        of action: PresenceAction, asking question: @escaping PassphraseQuestion
    ) async throws(SignetError) -> Approval {
        guard let keystore else { throw .noAccount(folder: folder.path) }
        let presence = PassphrasePresence(opening: keystore, in: folder, asking: question)
        let desk = PresencePrompter(asking: presence, remembering: folder.presence, clock: surroundings.now)
        let grant: PresenceGrant
        do throws(PresenceRefusal) { grant = try await desk.grant(for: action, unlocking: true) } catch {
            if let fault = await presence.fault { throw .keystore(fault, path: folder.keystore.path) }
            throw .presence(error)
        }
        guard let opened = await presence.opened else { throw .presence(.locked) }
        return Approval(secrets: opened.secrets, passphrase: opened.passphrase, grant: grant)
    }
}

/// Asks for the passphrase, and opens the account's keys with it.
private actor PassphrasePresence: Presence {
    private let keystore: Keystore
    private let folder: HomeFolder
    private let question: PassphraseQuestion
    private(set) var opened: (secrets: DeviceSecrets, passphrase: SecretBytes)?
    private(set) var fault: KeystoreError?

    init(
        opening keystore: Keystore, in folder: HomeFolder, asking question: @escaping PassphraseQuestion
    ) {
        self.keystore = keystore
        self.folder = folder
        self.question = question
    }

    func answer(_ prompt: PresencePrompt) async -> PresenceOutcome {
        guard let passphrase = await question(prompt.action) else { return .declined }
        do throws(KeystoreError) {
            opened = (try folder.open(keystore, with: passphrase), passphrase)
            return .present
        } catch .wrongPassphraseOrDamaged {
            return .failed
        } catch {
            fault = error
            return .declined
        }
    }
}

extension Account {
    /// Asks the user to approve an action, by its name; see ``OpenHome/approval(of:asking:)``.
    ///
    /// - Throws: ``SignetError``.
    public func approval(
        of action: PresenceAction, asking question: @escaping PassphraseQuestion
    ) async throws(SignetError) -> Approval {
        try await home.approval(of: action, asking: question)
    }

    /// Checks that an approval is for this action, in this account.
    func check(_ approval: borrowing Approval, is action: PresenceAction) throws(SignetError) {
        guard approval.action == action, approval.secrets.keys == secrets.keys else {
            throw .presence(.unanswered(.notAsked))
        }
    }
}

extension HomeFolder {
    /// The number of wrong passphrases in a row, and the time until which none is asked for.
    public var presence: DurableFile { DurableFile(path: path + "/presence") }
}
