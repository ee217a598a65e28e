// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import KeyTransparency
import Signet
import SignetAPI

/// `signet account`
struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Your own account.",
        discussion: "Example: signet account show", subcommands: [Create.self, Show.self, Join.self])
}

extension AccountCommand {
    /// Makes the keys before anything is sent, so that an interruption loses nothing.
    static func begin(
        _ options: any HomeChoice, _ handle: Handle, directory: String, withIdentity: Bool, _ keys: KeystoreOptions
    ) throws -> AccountBeginning {
        do {
            return try AccountBeginning(
                of: handle, at: try Self.profile(in: directory), in: options.folder, withIdentity: withIdentity,
                keysAt: keys.keystore.place
            ) { isNew in
                isNew
                    ? try Passphrase.new(options, knowing: [handle.description]) : try Passphrase.existing(options)
            }
        } catch let error as SignetError { throw CommandFailure(error) }
    }

    private static func profile(in path: String) throws -> DirectoryProfile {
        do { return try HomeFolder.profile(in: DurableFile(path: path)) } catch {
            throw CommandFailure(error, path: path)
        }
    }

    /// Makes a further device's keys, and its card in a file.
    static func makeCard(
        _ options: any HomeChoice, _ handle: Handle, directory: String, at path: String, _ keys: KeystoreOptions
    ) async throws -> (card: MadeCard, session: Session) {
        // Interrupted after that? The same command again may put a newer card in its place, never in that of another account's.
        let policy = try Self.profile(in: directory).trust.policy
        let isOwn = { (found: [UInt8]) in
            (try? LinkCard(decoding: found, policy: policy))?.device.request.handle == handle
        }
        try OutputFile.checkRoom(path, outside: options.folder, replacing: isOwn)
        let beginning = try begin(options, handle, directory: directory, withIdentity: false, keys)
        defer { withExtendedLifetime(beginning) {} }
        let session = Session(options, beginning.home)
        let card: MadeCard
        do { card = try await beginning.card() } catch { throw CommandFailure(error, session: session) }
        OwnAccountWatch.arm(session)
        do { try OutputFile.write(card.bytes, to: path, outside: session.home, replacing: isOwn) } catch let failure
            as CommandFailure
        {
            throw CommandFailure(
                failure.status, failure.sentence.what,
                "\(failure.sentence.remedy) The keys have been made: run the same command again with another --card.")
        }
        return (card, session)
    }

    /// `signet account create`
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Make an account, with this device as its first.",
            discussion: """
                If it is interrupted or offline, run the same command again: it continues with the same keys. A change of the \
                directory's keys since the file was made is followed, if the log proves it; otherwise nothing is registered.

                A directory may ask for an invitation of its operator's, for a token of the operator's login system, or for a code that \
                it sends to your handle, which is then a mail address. The command says what it asks for; give that with \
                --invitation, --token or --code.

                Example: signet account create alice@example.org --directory directory.signet
                """)

        @Argument(help: "Your handle, like alice@example.org.") var handle: String
        @Option(help: ArgumentHelp("The directory file that its operator gave you.", valueName: "file"))
        var directory: String
        @Option(
            help: ArgumentHelp(
                "The code that the operator gave you, if the directory registers by invitation or released the handle for you.",
                valueName: "code"),
            transform: Self.invitation)
        var invitation: Invitation?
        @OptionGroup var proofs: RegistrationProofOptions
        @OptionGroup var keys: KeystoreOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        private static func invitation(_ text: String) throws -> Invitation {
            guard let invitation = Invitation(typed: text) else {
                throw ValidationError(
                    "not an invitation: it has 32 digits from 0 to 9 and a to f, as the operator's server printed them")
            }
            return invitation
        }

        func run() async throws {
            let handle = try Handle.typed(handle)
            let proof = try proofs.proof(besides: invitation)
            let beginning = try begin(home, handle, directory: directory, withIdentity: true, keys)
            let session = Session(home, beginning.home)
            let verdict: LookupVerdict
            do { verdict = try await proofs.register(beginning, with: proof) } catch {
                proofs.showWhatIsNeeded(error, beginning, output)
                throw CommandFailure(error, session: session, registering: handle.description)
            }
            let opened = try Session(home).open
            // With a file of after the change there is nothing to say.
            if !opened.folder.isBound(to: try AccountCommand.profile(in: directory).trust) {
                _ = session.moved(to: opened)
            }
            let keystore = try session.owner()
            output.emit(
                [
                    "handle": .string(handle.description), "home": .string(session.home.path),
                    "keystore": .string(KeystoreChoice(keystore.place).rawValue),
                    "outcome": .string(verdict.outcome.name), "version": .number(verdict.version),
                ],
                """
                \(Paint.output.good("✓")) \(Paint.output.strong(handle.description)) is yours, and the log proves it.
                  This device is device 1. Its keys are in \(session.home.path), \(keystore.words).
                  \(keystore.backup)\(verdict.version > 1 ? Self.formerHolder : "")
                """)
        }

        private static let formerHolder = """

              The handle was somebody else's before. Whoever had added them is told that you have another identity, and the log \
            shows the change to everyone who keeps a copy.
            """
    }

    /// `signet account join`
    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "join", abstract: "Make this machine another device of an existing account.",
            discussion: """
                Makes this device's keys and a device card. Carry the card to the device on which the account was \
                made, and give it to 'signet devices add' there within the hour. Compare the twelve digits: both \
                devices show the same ones if the card was not changed on the way. Then compare the digits that the \
                other device shows: 'signet devices confirm' here. Until then this device accepts nothing.

                Example: signet account join alice@example.org --directory directory.signet
                """)

        @Argument(help: "The account's handle.") var handle: String
        @Option(help: ArgumentHelp("The directory file that its operator gave you.", valueName: "file"))
        var directory: String
        @Option(help: ArgumentHelp("Where to put the device card.", valueName: "file")) var card: String =
            "device.card"
        @OptionGroup var code: CardCodeOptions
        @OptionGroup var keys: KeystoreOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let (made, session) = try await makeCard(home, handle, directory: directory, at: card, keys)
            try code.write(made, outside: session.home)
            output.emit(
                [
                    "card": .string(card), "code": .string(made.code), "handle": .string(handle.description),
                    "home": .string(session.home.path),
                ],
                """
                \(Paint.output.good("✓")) Keys made. The device card is in \(Paint.output.strong(card)); there is no secret in it.
                  On a device that holds the identity:  signet devices add \(card)
                  Type there:                           \(Paint.output.strong(made.code))
                  Then here:                            signet devices confirm
                """ + code.drawn(made))
        }
    }

    /// `signet account show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show your account, and check that the directory shows everyone the same account.",
            discussion: "Example: signet account show --offline")

        @Flag(help: "Do not ask the directory.") var offline = false
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let keystore = try session.owner()
            let account = offline ? nil : try await session.ownAccount()
            output.emit(json(session, keystore, account), text(session, keystore, account))
            try account?.check(session)
        }

        private func json(_ session: Session, _ keystore: Keystore, _ account: OwnAccount?) -> PrintedValue {
            [
                "deviceKey": .base64(keystore.keys.signing), "directory": .string(session.profile.url),
                "handle": .string(keystore.handle.description), "home": .string(session.home.path),
                "identityKey": keystore.identityKey.map { .base64($0) } ?? .null,
                "keystore": .string(KeystoreChoice(keystore.place).rawValue),
                "outcome": account.map { .string($0.outcome.name) } ?? .null,
                "version": account.map { .number($0.version) } ?? .null,
            ]
        }

        private func text(_ session: Session, _ keystore: Keystore, _ account: OwnAccount?) -> String {
            var lines = [
                Paint.output.strong(keystore.handle.description),
                "  directory  \(session.profile.url)", "  home       \(session.home.path)",
                "  identity   " + (keystore.identityKey == nil ? "on another device" : "on this device"),
                "  keys       \(keystore.words)",
            ]
            if let account {
                lines.append("  account    version \(account.version), \(account.words)")
            }
            if output.advanced {
                lines.append("  device key    \(PrintedValue.printable(Base64.encode(keystore.keys.signing)))")
                if let key = keystore.identityKey {
                    lines.append("  identity key  \(PrintedValue.printable(Base64.encode(key)))")
                }
            }
            return lines.joined(separator: "\n")
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
