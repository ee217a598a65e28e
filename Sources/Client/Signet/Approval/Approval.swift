public import DeviceIdentity
import DeviceKeystores
public import SignetClient

/// Asks the user for the passphrase, and names what it is for. Nil: they closed the question.
public typealias PassphraseQuestion = @Sendable (PresenceAction) async -> SecretBytes?

/// The user's approval of one action, given with the passphrase. It cannot be copied, and what is approved uses it up.
///
/// Security: only ``OpenHome/approval(of:asking:)`` makes one, after the user answered a question that named the action. What it is used
/// for has to be that action, in the account whose passphrase it was.
public struct Approval: ~Copyable, Sendable {
    /// The account's keys, which the passphrase opened.
    package let secrets: DeviceSecrets
    /// Opens what else is under it: the keys to sites.
    package let passphrase: SecretBytes
    let grant: PresenceGrant

    /// What the user agreed to.
    public var action: PresenceAction { grant.action }

    /// The grant alone.
    package consuming func takeGrant() -> PresenceGrant { grant }
}

extension OpenHome {
    /// Asks the user for an action, by its name. Wrong answers are remembered, and after five of them each costs a longer wait: starting
    /// the program again makes guessing no cheaper.
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
    /// Asks the user for an action, by its name; see ``OpenHome/approval(of:asking:)``.
    ///
    /// - Throws: ``SignetError``.
    public func approval(
        of action: PresenceAction, asking question: @escaping PassphraseQuestion
    ) async throws(SignetError) -> Approval {
        try await home.approval(of: action, asking: question)
    }

    /// An approval is good for what it names, in this account.
    func check(_ approval: borrowing Approval, is action: PresenceAction) throws(SignetError) {
        guard approval.action == action, approval.secrets.keys == secrets.keys else {
            throw .presence(.unanswered(.notAsked))
        }
    }
}

extension HomeFolder {
    /// Wrong passphrases in a row, and until when none is asked for.
    public var presence: DurableFile { DurableFile(path: path + "/presence") }
}
