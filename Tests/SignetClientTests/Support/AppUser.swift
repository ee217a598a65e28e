// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import KeyTransparency
import SecretMemory
import SignetAPI
import SignetClient
import Synchronization

@testable import Signet

/// A user of an app on one device, and the approvals that they were asked for.
final class AppUser: Sendable {
    static let passphrase = "a passphrase that nobody guesses: heron, kettle, ninety"

    let account: Account
    private let asked = Mutex<[PresenceAction]>([])

    init(_ account: Account) { self.account = account }

    /// What the user was asked to approve of.
    var questions: [PresenceAction] { asked.withLock { $0 } }

    static var secret: SecretBytes { SecretBytes(copying: passphrase.utf8) }

    /// Surroundings in which only short waits end before the test.
    static let surroundings = Surroundings(
        now: Surroundings.system.now,
        wait: { try? await Task.sleep(for: $0 < .seconds(10) ? $0 : .seconds(86_400)) },
        randomBytes: Surroundings.system.randomBytes)

    static func create(_ name: String, at profile: DirectoryProfile, in folder: String) async throws -> AppUser {
        AppUser(
            try await Account.create(
                Handle(name + "@example.org"), at: profile, in: HomeFolder(path: folder + "/" + name),
                passphrase: secret, surroundings: surroundings))
    }

    /// Asks the user, who answers with this.
    func approval(of action: PresenceAction, by answer: String? = AppUser.passphrase) async throws -> Approval {
        try await account.approval(of: action) { [self] action in
            asked.withLock { $0.append(action) }
            return answer.map { SecretBytes(copying: $0.utf8) }
        }
    }

    func befriend(_ other: AppUser) async throws {
        _ = try await account.add(other.account.handle)
        _ = try await other.account.accept(account.handle)
    }
}
