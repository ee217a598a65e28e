// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Platform
import SecretMemory
import Signet
import SignetAPI

/// An open home folder, as a command uses it: what went wrong is said in sentences, and the passphrase is asked for.
struct Session {
    let options: any HomeChoice
    let open: OpenHome

    var home: HomeFolder { open.folder }
    var profile: DirectoryProfile { open.profile }
    var keystore: Keystore? { open.keystore }
    /// Where the client's store is.
    var storePath: String { open.storePath }
    /// Whether the directory is another one than the home's own.
    var isGuest: Bool { open.isGuest }

    /// Opens what is there.
    ///
    /// - Parameter directory: a directory file to use instead of the home folder's; see `OpenHome`.
    init(_ options: any HomeChoice, directory: String? = nil) throws {
        let home: OpenHome
        do { home = try OpenHome(options.folder, directory: directory.map { DurableFile(path: $0) }) } catch {
            throw CommandFailure(error)
        }
        self.init(options, home)
    }

    init(_ options: any HomeChoice, _ open: OpenHome) {
        self.options = options
        self.open = open
    }

    /// Whose account it is.
    func owner() throws -> Keystore {
        guard let keystore else {
            throw CommandFailure(
                .usage, "There is no account in \(home.path).",
                "Make one with 'signet account create HANDLE --directory FILE'.")
        }
        return keystore
    }

    /// The device's keys, opened with a passphrase that was given, else by the agent, else with one that is asked for.
    func secrets() throws -> DeviceSecrets {
        try unaskedSecrets() ?? secrets(with: Passphrase.existing(options))
    }

    /// The device's keys, opened with a passphrase that was given, else by the agent; nil if the passphrase has to be asked for.
    func unaskedSecrets() throws -> DeviceSecrets? {
        let keystore = try owner()
        if Passphrase.isGiven(options) { return try secrets(with: Passphrase.existing(options)) }
        return AgentClient(of: home).key().flatMap { try? home.open(keystore, withKey: $0) }
    }

    /// The device's keys, opened with a passphrase that was asked for already.
    func secrets(with passphrase: SecretBytes) throws -> DeviceSecrets {
        do { return try home.open(owner(), with: passphrase) } catch let error as KeystoreError {
            throw CommandFailure(error, path: home.keystore.path)
        }
    }

    /// Asks the directory something, and says what went wrong. Changes of the directory's keys are followed on the way.
    ///
    /// - Parameter isWatching: whether to look at the own account when the command has ended, if that is due.
    func ask<Value>(
        isWatching: Bool = true, _ body: (OpenHome) async throws(SignetError) -> (Value, OpenHome)
    ) async throws -> Value {
        let (value, home) = try await read(body)
        let session = moved(to: home)
        if isWatching { OwnAccountWatch.arm(session) }
        return value
    }

    /// Uses the open home, and says what went wrong.
    func read<Value>(_ body: (OpenHome) async throws(SignetError) -> Value) async throws -> Value {
        do throws(SignetError) { return try await body(open) } catch { throw CommandFailure(error, session: self) }
    }

    /// Whether the user compared the identity key that is pinned for a person.
    func comparison(with handle: Handle) async throws -> ComparisonState {
        try await read { home throws(SignetError) in try await home.comparison(with: handle) }
    }

    /// The session in a home that may have new keys of the directory, which is said.
    func moved(to home: OpenHome) -> Session {
        if home.profile != profile {
            Output.error("The directory has new keys. The change was in its log, cosigned by the previous quorum.")
        }
        return Session(options, home)
    }
}

/// Asks a person a question at the terminal.
enum Question {
    /// Whether the answer was yes.
    ///
    /// - Parameter unasked: what is said if there is no terminal to ask at.
    static func confirm(_ question: String, unasked: CommandFailure) throws -> Bool {
        let answer = try line("\(question) [y/N]", unasked: unasked)
        return answer == "y" || answer == "Y" || answer == "yes"
    }

    /// The line that was entered.
    ///
    /// - Parameter unasked: what is said if there is no terminal to ask at.
    static func line(_ question: String, unasked: CommandFailure) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { throw unasked }
        Output.error(question)
        return readLine(strippingNewline: true) ?? ""
    }

    /// Asks before something that cannot be taken back is done.
    ///
    /// - Throws: `CommandFailure`: the answer was no, or there is no terminal to ask at.
    static func demand(_ question: String, orElse kept: String) throws {
        let unasked = CommandFailure(
            .usage, "This command asks before it goes on, but there is no terminal on which to ask. \(kept)",
            "To go on without being asked, add --yes.")
        guard try confirm(question, unasked: unasked) else { throw CommandFailure(.interrupted, kept, "") }
    }
}
