// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import NotesClient
import RecoveryClient
import SecretMemory
import SignetClient
import SitesClient
import SocialRecovery

/// What this device gives guardians to guard besides the contacts: the keys to the notes, and a key for each site.
struct GuardedThings: Sendable {
    var notes: [JournalEntry]
    let sites: [JournalEntry]

    var entries: [JournalEntry] { notes + sites }

    /// The number of the newest key to the notes.
    var newestNotesKey: UInt32 {
        notes.reduce(0) { newest, entry in
            if case .accountKey(let epoch, _) = entry { max(newest, epoch) } else { newest }
        }
    }
}

extension Account {
    /// Collects the things to guard.
    func guardedThings(_ approval: borrowing Approval) async throws(SignetError) -> GuardedThings {
        let notes = try await storedNotes { book throws(NotesError) in try await book.recoveryEntries() }
        guard home.folder.siteList.exists else { return GuardedThings(notes: notes, sites: []) }
        let sites = try await sites(approval) { book, grant throws(SitesError) in try await book.recoveryEntries(grant)
        }
        return GuardedThings(notes: notes, sites: sites)
    }

    /// After an operation that made keys: has the guardians guard them, if there are any. Failures are reported, but do not
    /// fail the operation that made the keys.
    func followGuardians(_ approval: borrowing Approval) async {
        do throws(SignetError) {
            guard try isGuarded else { return }
            let things = try await guardedThings(approval)
            _ = try await owning { side throws(RecoveryClientError) in try await side.guardNews(things.entries) }
        } catch { tell(.guardiansBehind(error)) }
    }

    /// The same, with the passphrase that the user has just given.
    func followGuardians(knowing passphrase: SecretBytes) async {
        do throws(SignetError) {
            guard try isGuarded else { return }
            await followGuardians(try await approval(of: .updateAccount) { _ in passphrase })
        } catch { tell(.guardiansBehind(error)) }
    }

    private var isGuarded: Bool {
        get throws(SignetError) {
            do { return try RecoveryFiles(in: home.folder).isGuarded } catch { throw .recovery(error) }
        }
    }
}
