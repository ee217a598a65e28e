// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import SecretMemory
import Signet
import Synchronization

/// The passphrase of a command, asked for by name of what it is for.
final class CommandPassphrase: Sendable {
    private let options: any HomeChoice
    private let failure = Mutex<CommandFailure?>(nil)

    init(_ options: any HomeChoice) { self.options = options }

    /// Why it could not be asked for.
    var fault: CommandFailure? { failure.withLock { $0 } }

    func answer(_ action: PresenceAction) -> SecretBytes? {
        do { return try Passphrase.existing(options, action.purpose) } catch {
            failure.withLock { $0 = error as? CommandFailure }
            return nil
        }
    }
}

extension Session {
    /// Asks the person by name of the action, and opens the account's keys. Wrong answers are remembered.
    func approval(of action: PresenceAction) async throws -> Approval {
        _ = try owner()
        let passphrase = CommandPassphrase(options)
        do { return try await open.approval(of: action) { passphrase.answer($0) } } catch {
            throw passphrase.fault ?? CommandFailure(error, session: self)
        }
    }

    /// The device's keys, after the person was asked by name of the action.
    func secrets(for action: PresenceAction) async throws -> DeviceSecrets { try await approval(of: action).secrets }

    /// Asks the person by name of the action, does it with the account, and says what its events are.
    func approved<Value>(
        _ action: PresenceAction, _ body: (Account, consuming Approval) async throws -> Value
    ) async throws -> Value {
        let approval = try await approval(of: action)
        let account = try await account(approval.secrets)
        let result: Result<Value, any Error>
        do { result = .success(try await body(account, approval)) } catch { result = .failure(error) }
        return try await finish(account, result)
    }

    /// Does something with the account, whose keys are open, and says what its events are.
    func with<Value>(
        _ secrets: DeviceSecrets, _ body: (Account) async throws -> Value
    ) async throws -> Value {
        let account = try await account(secrets)
        let result: Result<Value, any Error>
        do { result = .success(try await body(account)) } catch { result = .failure(error) }
        return try await finish(account, result)
    }

    /// The account, with keys that are open.
    ///
    /// - Parameter opensLockedNotes: whether locked notes are wanted, which can only be unlocked.
    func account(_ secrets: DeviceSecrets, opensLockedNotes: Bool = false) async throws -> Account {
        do {
            return try await Account(open, secrets, isWatching: false, opensLockedNotes: opensLockedNotes)
        } catch {
            throw CommandFailure(error, session: self)
        }
    }

    private func finish<Value>(_ account: Account, _ result: Result<Value, any Error>) async throws -> Value {
        await account.close()
        let session = moved(to: await account.home)
        for await event in account.events { event.say(in: session) }
        do {
            let value = try result.get()
            OwnAccountWatch.arm(session)
            return value
        } catch let error as SignetError { throw CommandFailure(error, session: session) }
    }
}

extension AccountEvent {
    /// Says what the command itself has not said.
    fileprivate func say(in session: Session) {
        switch self {
        case .guardiansBehind(let error):
            let reason = CommandFailure(error, session: session).sentence.what
            Output.error("\(Paint.error.warning("Your guardians do not protect this yet:")) \(reason)")
            Output.error("        'signet guardians' tries again.")
        case .friendsLogNotProven(let handle): Output.warnNotProven(handle)
        case .found, .directoryKeysChanged: break
        }
    }
}
