// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyTransparency
import SignetServer

/// `signetd accounts`
struct Accounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "List, invite, limit, suspend, release and erase accounts while the server runs.",
        discussion: """
            Reaches the running server over the socket admin.socket in its data directory, which only the server's user \
            and root can open. Curl can use it, too: curl --unix-socket DIRECTORY/admin.socket http://signetd/accounts

            Accounts' keys cannot be changed here, and what they store is sealed: an operator can refuse service, but cannot \
            read or replace anything unseen.
            """,
        subcommands: [
            List.self, Show.self, Events.self, Invite.self, Quota.self, Suspend.self, Resume.self, Release.self,
            Erase.self,
        ],
        defaultSubcommand: List.self)

    /// `signetd accounts list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show all accounts, one a line.",
            discussion: """
                An account that is damaged is named in the end, and the exit code is 65.

                Example: signetd accounts list --data /var/lib/signet/data
                """)

        @OptionGroup var data: DataOption

        func run() async throws {
            let client = Accounts.client(data)
            var last: Handle?
            var damaged: [String] = []
            repeat {
                let page: AccountPage = try await Accounts.answer(client, .accounts(after: last))
                if last == nil { print(AccountLines.heading) }
                for account in page.accounts { print(AccountLines.line(account)) }
                damaged += page.damaged
                last = page.next.flatMap { try? Handle(canonical: Array($0.utf8)) }
            } while last != nil
            guard damaged.isEmpty else { throw Diagnostics.exit(DamagedAccounts(handles: damaged)) }
        }
    }

    /// `signetd accounts show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show one account.",
            discussion: "Example: signetd accounts show alice@example.org --data /var/lib/signet/data")

        @OptionGroup var account: AccountArgument

        func run() async throws { try await account.printRecord(after: .show) }
    }

    /// `signetd accounts events`
    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "events", abstract: "Show what happened to an account, the newest first.",
            discussion: """
                The five hundred newest events, also of an account that was erased: when, what, and for what an operator did who did it. \
                'by' names the user of the process that asked for it, as the system says it. 'claims' is what that process said \
                of itself: under sudo, who used it. What the account's people wrote or read is not recorded.

                Example: signetd accounts events alice@example.org --data /var/lib/signet/data
                """)

        @OptionGroup var account: AccountArgument

        func run() async throws {
            let answer: AccountEvents = try await account.answer(.events)
            for event in answer.events { print(AccountLines.line(event)) }
        }
    }

    /// `signetd accounts invite`
    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "invite", abstract: "Make a code with which one person may register one handle.",
            discussion: """
                For a server that runs with --by-invitation. Give the code to the person, who gives it to `signet account create \
                --invitation`. It can be used once, within seven days; a second invitation for the same handle replaces the first. The \
                database has only the code's hash, so it cannot be shown again.

                Example: signetd accounts invite alice@example.org --data /var/lib/signet/data
                """)

        @OptionGroup var account: AccountArgument

        func run() async throws {
            let record: InvitationRecord = try await account.answer(.invite)
            for line in AccountLines.all(record) { print(line) }
        }
    }

    /// `signetd accounts quota`
    struct Quota: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "quota", abstract: "Set how many bytes an account's notes and files may take.",
            discussion: """
                It counts at once. An account that has more keeps it, and writes nothing until it has deleted enough. 'default' gives the \
                account the quota of all again, which grows with the age of the account up to 'signetd run --quota'.

                Examples:
                  signetd accounts quota alice@example.org 5GB --data /var/lib/signet/data
                  signetd accounts quota alice@example.org default --data /var/lib/signet/data
                """)

        @OptionGroup var account: AccountArgument

        @Argument(help: "Bytes, with kB, MB, GB, KiB, MiB or GiB behind them if you like; or default.")
        var size: String

        func run() async throws {
            let byteCount = size == "default" ? nil : try ByteSize(typed: size).byteCount
            let record: AccountRecord = try await Accounts.answer(
                Accounts.client(account.data), .quota(account.handle, byteCount))
            for line in AccountLines.all(record) { print(line) }
        }
    }

    /// `signetd accounts suspend`
    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "suspend", abstract: "Refuse an account's requests until it is resumed.",
            discussion: """
                Its notes, contacts, calls and signals are refused, and what it has stored stays. Its keys stay in the log, and others \
                can still look it up and share with it. The account can still revoke devices, object to a recovery and be recovered: an \
                operator must not be able to keep a person from locking out a thief.

                Example: signetd accounts suspend alice@example.org --data /var/lib/signet/data
                """)

        @OptionGroup var account: AccountArgument

        func run() async throws { try await account.printRecord(after: .suspend) }
    }

    /// `signetd accounts resume`
    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Take the requests of a suspended account again.",
            discussion: "Example: signetd accounts resume alice@example.org --data /var/lib/signet/data")

        @OptionGroup var account: AccountArgument

        func run() async throws { try await account.printRecord(after: .resume) }
    }

    /// `signetd accounts release`
    struct Release: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "release", abstract: "Take a handle from the wrong person, for the holder of a code.",
            discussion: """
                Erases what the account has stored, ends its devices and its contacts, and prints a code for the right person, who gives \
                it to `signet account create HANDLE --invitation`. Until then the handle shows the former holder's last keys, and \
                nothing that they send is taken. Repeat it if it fails, or for another code when this one has run out; once \
                the right person has registered it does nothing.

                It cannot be hidden, and looks like an attack to those who knew the former holder: their contacts are warned of \
                another identity, and so are the former holder's own devices. It cannot be undone. An account that was erased cannot be \
                released: its handle is closed for good.

                Example: signetd accounts release ceo@example.org --yes --data /var/lib/signet/data
                """)

        @OptionGroup var account: AccountArgument

        @Flag(help: "Release it. Without this flag nothing is done.")
        var yes = false

        func validate() throws {
            guard yes else {
                throw ValidationError("a release cannot be undone: say --yes to take the handle from its holder")
            }
        }

        func run() async throws {
            let record: InvitationRecord = try await account.answer(.release)
            for line in AccountLines.all(record) { print(line) }
        }
    }

    /// `signetd accounts erase`
    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "erase", abstract: "Erase an account's data from the databases of the running server.",
            discussion: """
                Does what `signetd erase` does while the server does not run; its help says what stays. Repeat it if it fails. \
                It cannot be undone, and the handle is never given out again.

                Example: signetd accounts erase alice@example.org --yes --data /var/lib/signet/data
                """)

        @OptionGroup var account: AccountArgument

        @Flag(help: "Erase it. Without this flag nothing is done.")
        var yes = false

        func validate() throws {
            guard yes else { throw ValidationError("an erasure cannot be undone: say --yes to erase the account") }
        }

        func run() async throws {
            let _: Nothing = try await account.answer(.erase)
            print("erased")
        }

        private struct Nothing: Decodable {}
    }

    /// Reaches the server, and tells it who used `sudo`, if anyone did.
    static func client(_ data: DataOption) -> AdministrationClient {
        AdministrationClient(
            DataDirectory(path: data.data), claiming: ProcessInfo.processInfo.environment[Self.sudoUser])
    }

    /// What `sudo` sets to the name of whoever used it.
    static let sudoUser = "SUDO_USER"

    /// Makes a call, or says why it was not answered.
    static func answer<Value: Decodable>(
        _ client: AdministrationClient, _ call: AdministrationCall
    ) async throws -> Value {
        do { return try await client.call(call) } catch { throw Diagnostics.exit(error) }
    }
}

extension Handle {
    /// What is said of a text that is none.
    static let explanation =
        "not a handle, such as alice@example.org: before the @ letters a-z, digits and . _ + -, behind it the name of a domain, all in ASCII"
}

/// An account, and the server that has it.
struct AccountArgument: ParsableArguments {
    @Argument(help: "The account's handle, such as alice@example.org.", transform: Self.handle)
    var handle: Handle

    @OptionGroup var data: DataOption

    func answer<Value: Decodable>(_ act: AdministrationCall.Act) async throws -> Value {
        try await Accounts.answer(Accounts.client(data), .account(handle, act))
    }

    /// Shows how the account is after an act.
    func printRecord(after act: AdministrationCall.Act) async throws {
        let record: AccountRecord = try await answer(act)
        for line in AccountLines.all(record) { print(line) }
    }

    private static func handle(_ text: String) throws -> Handle {
        guard let handle = try? Handle(typed: Array(text.utf8)) else {
            throw ValidationError(Handle.explanation)
        }
        return handle
    }
}
