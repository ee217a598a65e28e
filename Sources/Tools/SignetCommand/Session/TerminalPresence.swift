import DeviceIdentity
import DeviceKeystores
import Signet
import SignetClient
import SitesClient

/// Asks for the passphrase, by name of what it is for, and opens the sealed keys with it.
actor TerminalPresence: Presence {
    private let options: HomeOptions
    private let account: SignetClient.Keystore
    private let keys: SealedFileKeystore
    private(set) var fault: CommandFailure?
    /// What the person has just given for the command as a whole: it answers the first question, and no other.
    private var given: SecretBytes?
    /// What the person gave last, once it was right.
    private(set) var passphrase: SecretBytes?

    init(
        _ options: HomeOptions, account: SignetClient.Keystore, keys: SealedFileKeystore,
        knowing given: SecretBytes?
    ) {
        self.options = options
        self.account = account
        self.keys = keys
        self.given = given
    }

    func answer(_ prompt: PresencePrompt) async -> PresenceOutcome {
        do {
            let passphrase = try given ?? Passphrase.existing(options, prompt.action.purpose)
            given = nil
            try await open(with: passphrase)
            self.passphrase = passphrase
            return .present
        } catch SealedFileFault.keystore(.wrongPassphraseOrDamaged) {
            return .failed
        } catch let fault as SealedFileFault {
            self.fault = CommandFailure(fault, path: options.folder.siteKeys.path)
        } catch let failure as CommandFailure { fault = failure } catch {}
        return .declined
    }

    /// The first time, the file is made, under the passphrase that opens the account.
    private func open(with passphrase: SecretBytes) async throws {
        if keys.exists { return try await keys.unlock(with: passphrase) }
        do { _ = try account.open(with: passphrase) } catch { throw SealedFileFault.keystore(error) }
        try await keys.create(under: passphrase)
    }
}

extension HomeFolder {
    /// Keys for sites, sealed under the account's passphrase.
    var siteKeys: DurableFile { DurableFile(path: path + "/site-keys") }
    /// The list of sites, sealed under a key in ``siteKeys``.
    var siteList: DurableFile { DurableFile(path: path + "/sites") }
    /// Wrong passphrases in a row, and until when none is asked for.
    var presence: DurableFile { DurableFile(path: path + "/presence") }
}

/// A person's sites in a home folder, and the desk where each use of a key is asked for.
struct SiteSession {
    let home: HomeFolder
    let keys: SealedFileKeystore
    let book: SiteBook
    let presence: TerminalPresence
    /// With a clock that is never earlier than what the directory's log has shown here.
    let surroundings: Surroundings
    private let desk: PresenceDesk

    /// - Parameter passphrase: when the person has just given it.
    init(_ options: HomeOptions, knowing passphrase: SecretBytes? = nil) throws {
        home = options.folder
        let account: SignetClient.Keystore?
        do { account = try OpenHome.keystore(in: home) } catch { throw CommandFailure(error) }
        guard let account else {
            throw CommandFailure(
                .usage, "There is no account in \(home.path).",
                "Make one with 'signet account create HANDLE --directory FILE'.")
        }
        let keys = SealedFileKeystore(in: home.siteKeys, cost: account.cost)
        self.keys = keys
        do { surroundings = .system.notBefore(try SQLiteStore.open(at: home.storePath).newestTime()) } catch {
            throw CommandFailure(error, path: home.storePath)
        }
        book = SiteBook(keys: keys, list: home.siteList)
        presence = TerminalPresence(options, account: account, keys: keys, knowing: passphrase)
        desk = PresenceDesk(asking: presence, remembering: home.presence, onLock: { await keys.lock() })
    }

    /// Asks the person, and does something with the grant.
    func run<Value: Sendable>(
        _ action: PresenceAction, at place: String,
        _ body: (SiteBook, consuming PresenceGrant) async throws(SitesError) -> Value
    ) async throws -> Value {
        let grant: PresenceGrant
        do { grant = try await desk.grant(for: action, unlocking: true) } catch {
            if let fault = await presence.fault { throw fault }
            throw CommandFailure(error)
        }
        do { return try await body(book, grant) } catch {
            throw CommandFailure(error.family.status, error.sentence(place))
        }
    }
}
