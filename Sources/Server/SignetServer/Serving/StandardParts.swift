// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
package import Logging
import NoteStore
import RecoveryStore
import SignetAPI
import TransparencyLog

/// The parts that answer besides the directory in every Signet server, whether it is served or mounted.
package enum StandardParts {
    /// Opens pins, notes, logs that ended, the letters of recoveries, the signer of wallet cards, and the pages for browsers.
    ///
    /// - Parameters:
    ///   - tls: gets the key and certificate that are in the data directory; nil: none is told.
    ///   - own: reads the operator's own key and certificate, in the place of those in the data directory; nil: there are none.
    ///   - login: how many logins may fail.
    ///   - quota: bytes that the notes of an account may take, once it is old enough.
    ///   - explorer: the pages; nil: there are none.
    ///   - acceptsLostNotes: whether notes that are older than the log are opened.
    /// - Throws: what the operator has to act on.
    package static func open(
        _ data: DataDirectory, beside stored: StoredDirectory, switching tls: ServerTLS? = nil,
        own: (@Sendable () throws -> TLSIdentity)? = nil, login: LoginLimits = LoginLimits(),
        quota: UInt64 = NoteLimits().bytes,
        explorer: ExplorerFiles? = nil, acceptsLostNotes: Bool = false,
        logger: Logger
    ) async throws -> [any PartAnswering] {
        let (directory, clock) = (stored.directory, ServerClock.system.time)
        let pins = try PinsAnswering(data, beside: stored, switching: tls, own: own, clock: clock, logger: logger)
        let notes = try await StoredNotes.open(
            data, beside: directory, login: login, quota: quota, sharing: stored.shared, in: stored.engines,
            acceptsLoss: acceptsLostNotes, logger: logger)
        let mailboxes: MailboxStore
        do {
            mailboxes =
                if let engines = stored.engines {
                    MailboxStore(database: try engines.database(RecoverySchema.schema))
                } else {
                    try MailboxStore(at: data.recovery)
                }
        } catch {
            // Whoever opens them again would have the database of notes open twice.
            await notes.close()
            throw error
        }
        let letters = RecoveryAnswering(mailboxes, beside: directory, clock: clock)
        let cards = CardSignerAnswering(
            data, beside: directory, in: stored.engines, clock: clock, logger: logger)
        let pages = explorer.flatMap { explorer in
            stored.profile.trust.policy.logs.first.map {
                PagesAnswering(explorer, of: $0.name, beside: directory, logger: logger)
            }
        }
        return [pins, notes, FormerAnswering(beside: directory), letters, cards] + (pages.map { [$0] } ?? [])
    }
}
