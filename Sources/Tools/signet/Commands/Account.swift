import ArgumentParser
import CanonicalCoding
import DeviceKeystores
import KeyTransparency
import SignetAPI
import SignetClient

/// `signet account`
struct Account: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Your own account.", subcommands: [Create.self, Show.self, Join.self])
}

extension Account {
    /// Makes the keys before anything is sent, so that an interruption loses nothing.
    static func prepareHome(
        _ options: HomeOptions, _ handle: Handle, directory: String, withIdentity: Bool
    ) throws -> (session: Session, secrets: DeviceSecrets, isNew: Bool, lock: HomeLock) {
        let home = options.folder
        let profile = try Self.profile(in: directory)
        let lock = try Self.lock(home)
        if let keystore = try Session.keystore(home) {
            let (session, secrets) = try resume(options, keystore, handle, profile, withIdentity: withIdentity)
            return (session, secrets, false, lock)
        }
        let passphrase = try Passphrase.new(options, knowing: [handle.description])
        let secrets: DeviceSecrets
        do {
            secrets = try DeviceSecrets.generate(for: handle, withIdentity: withIdentity)
            let keystore = try Keystore(sealing: secrets, under: passphrase)
            try home.setAsideStore(notOf: profile.trust)
            try home.directory.replace(with: profile.encoded)
            try home.keystore.create(keystore.encoded)
        } catch let error as KeystoreError {
            throw CommandFailure(error, path: home.keystore.path)
        } catch let error as FileFault { throw CommandFailure(error, path: home.path) }
        return (try Session(options, isBeginning: true), secrets, true, lock)
    }

    private static func profile(in path: String) throws -> DirectoryProfile {
        do { return try HomeFolder.profile(in: DurableFile(path: path)) } catch {
            throw CommandFailure(error, path: path)
        }
    }

    /// Makes a further device's keys, and its card in a file.
    static func makeCard(
        _ options: HomeOptions, _ handle: Handle, directory: String, at path: String
    ) async throws -> (card: LinkCard, session: Session) {
        // Interrupted after that? The same command again may put a newer card in its place, never in that of another account's.
        let policy = try Self.profile(in: directory).trust.policy
        let isOwn = { (found: [UInt8]) in
            (try? LinkCard(decoding: found, policy: policy))?.device.request.handle == handle
        }
        try OutputFile.checkRoom(path, outside: options.folder, replacing: isOwn)
        let (session, secrets, _, lock) = try prepareHome(options, handle, directory: directory, withIdentity: false)
        defer { withExtendedLifetime(lock) {} }
        let card = try await session.run { client throws(ClientError) in try await client.linkCard(secrets) }
        do { try OutputFile.write(card.encoded, to: path, outside: session.home, replacing: isOwn) } catch let failure
            as CommandFailure
        {
            throw CommandFailure(
                failure.status, failure.sentence.what,
                "\(failure.sentence.remedy) The keys are made: give the same command again with another --card.")
        }
        return (card, session)
    }

    private static func lock(_ home: HomeFolder) throws -> HomeLock {
        let lock: HomeLock?
        do {
            try home.prepare()
            lock = try home.lock()
        } catch { throw CommandFailure(error, path: home.path) }
        guard let lock else {
            throw CommandFailure(
                .usage, "Another signet is making an account in \(home.path).",
                "Wait until it has ended; 'signet account show' then shows its account. Nothing was changed.")
        }
        return lock
    }

    private static func resume(
        _ options: HomeOptions, _ keystore: Keystore, _ handle: Handle, _ profile: DirectoryProfile,
        withIdentity: Bool
    ) throws -> (session: Session, secrets: DeviceSecrets) {
        let session = try Session(options, isBeginning: true)
        guard keystore.handle != handle || session.profile == profile else {
            throw CommandFailure(
                .usage, "\(session.home.path) goes by another directory file: a newer one, or another directory's.",
                "Give its own, --directory \(session.home.directory.path), or choose another folder with --home.")
        }
        guard keystore.handle != handle || keystore.identityKey != nil || !withIdentity else {
            throw CommandFailure(
                .usage, "\(session.home.path) holds a device that was linked to \(handle), or waits for that.",
                "'signet account show' shows it. To recover the identity, choose another folder with --home.")
        }
        guard keystore.handle == handle, (keystore.identityKey != nil) == withIdentity else {
            throw CommandFailure(
                .usage, "\(session.home.path) holds the account of \(keystore.handle) already.",
                "Choose another folder with --home.")
        }
        return (session, try session.secrets())
    }

    /// `signet account create`
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an account, with this device as its first.",
            discussion: "Interrupted or offline? Give the same command again: it goes on with the same keys.")

        @Argument(help: "Your handle, like alice@example.org.") var handle: String
        @Option(help: ArgumentHelp("The directory file that its operator gave you.", valueName: "file"))
        var directory: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let (session, secrets, isNew, lock) = try prepareHome(
                home, handle, directory: directory, withIdentity: true)
            defer { withExtendedLifetime(lock) {} }
            let isThere = try await session.run(isWatching: false) { client throws(ClientError) in
                do throws(StoreError) { return try await client.store.pinnedPeer(handle) != nil } catch {
                    throw ClientError.store(error)
                }
            }
            guard !isThere else {
                throw CommandFailure(
                    .usage, "The account of \(handle) is there already.", "'signet account show' shows it.")
            }
            let verdict = try await register(session, secrets, isNew: isNew)
            output.emit(
                [
                    "handle": .string(handle.description), "home": .string(session.home.path),
                    "outcome": .string(verdict.outcome.name), "version": .number(verdict.version),
                ],
                """
                \(Paint.output.good("✓")) \(Paint.output.strong(handle.description)) is yours, and the log proves it.
                  This device is device 1. Its keys are in \(session.home.path), sealed under your passphrase.
                  Back that folder up: there is no other copy of your identity.
                """)
        }

        private func register(
            _ session: Session, _ secrets: DeviceSecrets, isNew: Bool
        ) async throws -> LookupVerdict {
            do { return try await session.client.createAccount(secrets) } catch {
                if case .refused(.handleTaken, _) = error, isNew { throw setAside(session, secrets.handle) }
                throw CommandFailure(error, session: session)
            }
        }

        /// The folder is free for another handle, and the keys are still there: a refusal proves nothing, and
        /// the directory might log the account after all.
        private func setAside(_ session: Session, _ handle: Handle) -> CommandFailure {
            let what = "The directory says that somebody else has registered \(handle). It cannot prove that."
            do {
                let (keystore, directory) = try session.home.setAsideRefused()
                return CommandFailure(
                    .notProven, what,
                    "The new keys were put aside in \(keystore). Choose another handle; if 'signet lookup' ever shows "
                        + "that one with these keys, rename that file to 'keystore' and \(directory) to 'directory'.")
            } catch {
                let fault = error.sentence(session.home.keystore.path)
                return CommandFailure(
                    .notProven, "\(what) The new keys are still in \(session.home.keystore.path): \(fault.what)",
                    "Choose another handle and another folder with --home.")
            }
        }
    }

    /// `signet account join`
    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make this machine a further device of an account that exists.",
            discussion: """
                Makes this device's keys and a device card. Carry the card to the device on which the account was \
                made, and give it to 'signet devices add' there within the hour. Compare the twelve digits: both devices \
                show the same, if nobody changed the card on the way. Then compare the digits that the other device shows: \
                'signet devices confirm' here. Until then this device accepts nothing.
                """)

        @Argument(help: "The account's handle.") var handle: String
        @Option(help: ArgumentHelp("The directory file that its operator gave you.", valueName: "file"))
        var directory: String
        @Option(help: ArgumentHelp("Where to put the device card.", valueName: "file")) var card: String =
            "device.card"
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let (made, session) = try await makeCard(home, handle, directory: directory, at: card)
            let code = try LinkCode.of(made)
            output.emit(
                [
                    "card": .string(card), "code": .string(code.text), "handle": .string(handle.description),
                    "home": .string(session.home.path),
                ],
                """
                \(Paint.output.good("✓")) Keys made. The device card is in \(Paint.output.strong(card)); there is no secret in it.
                  On a device that holds the identity:  signet devices add \(card)
                  Type there:                           \(Paint.output.strong(code.text))
                  Then here:                            signet devices confirm
                """)
        }
    }

    /// `signet account show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show your account, and check that the directory shows everyone the same.")

        @Flag(help: "Do not ask the directory.") var offline = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let keystore = try session.owner()
            let verdict =
                offline
                ? nil
                : try await session.run { client throws(ClientError) in
                    try await client.lookup(keystore.handle).verdict
                }
            output.emit(json(session, keystore, verdict), text(session, keystore, verdict))
            if let verdict { try OwnAccount.check(verdict, keystore) }
        }

        private func json(_ session: Session, _ keystore: Keystore, _ verdict: LookupVerdict?) -> JSONValue {
            [
                "deviceKey": .base64(keystore.keys.signing), "directory": .string(session.profile.url),
                "handle": .string(keystore.handle.description), "home": .string(session.home.path),
                "identityKey": keystore.identityKey.map { .base64($0) } ?? .null,
                "outcome": verdict.map { .string($0.outcome.name) } ?? .null,
                "version": verdict.map { .number($0.version) } ?? .null,
            ]
        }

        private func text(_ session: Session, _ keystore: Keystore, _ verdict: LookupVerdict?) -> String {
            var lines = [
                Paint.output.strong(keystore.handle.description),
                "  directory  \(session.profile.url)", "  home       \(session.home.path)",
                "  identity   " + (keystore.identityKey == nil ? "on another device" : "on this device"),
            ]
            if let verdict {
                lines.append("  account    version \(verdict.version), \(OwnAccount.words(verdict))")
            }
            if output.advanced {
                lines.append("  device key    \(JSONValue.printable(Base64.encode(keystore.keys.signing)))")
                if let key = keystore.identityKey {
                    lines.append("  identity key  \(JSONValue.printable(Base64.encode(key)))")
                }
            }
            return lines.joined(separator: "\n")
        }
    }
}

/// What a lookup of the user's own account says.
enum OwnAccount {
    /// Raises the alarm when the account is not as this device left it.
    static func check(_ verdict: LookupVerdict, _ keystore: Keystore) throws {
        switch verdict.outcome {
        case .changed(let change) where change.removed.contains { $0.signingKey == keystore.keys.signing }:
            throw CommandFailure(
                .needsDecision, "This device was removed from the account.",
                "If that was you, delete its home folder. If not, somebody else has your identity: tell your friends."
            )
        case .changed(let change):
            throw CommandFailure(.needsDecision, ClientError.ownAccountChanged(change).sentence(""))
        case .contradicted(let contradiction): throw CommandFailure(.notProven, contradiction.sentence)
        case .stranger: throw CommandFailure(.notProven, ClientMisuse.deviceNotAddedYet.sentence)
        case .matched, .firstPinned, .accepted: return
        }
    }

    static func words(_ verdict: LookupVerdict) -> String {
        switch verdict.outcome {
        case .matched, .accepted: "as you left it"
        case .firstPinned: "seen by this device for the first time"
        case .changed(let change): "CHANGED: \(change.words)"
        case .contradicted: "CONTRADICTED"
        case .stranger: "this device is not in it yet, or you have not confirmed it here"
        }
    }
}

extension TrustOutcome {
    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .matched: "matched"
        case .firstPinned: "first-pinned"
        case .accepted: "accepted"
        case .stranger: "stranger"
        case .changed: "changed"
        case .contradicted: "contradicted"
        }
    }
}
