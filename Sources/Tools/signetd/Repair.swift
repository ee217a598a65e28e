// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyDirectory
import Logging
import SharedLog
import SignetServer

/// `signetd repair`
struct Repair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair", abstract: "Put back what the shared database lacks of the log.",
        discussion: """
            For a database that has fewer entries than were signed, because an older copy was restored or a standby was promoted that \
            lacked some. First look for a copy that has them: what is put back is the log alone. The entries are read from the bucket, and \
            must make the root that the log's key has signed; nothing else is believed, and nothing is signed. Stop the front ends and the \
            processes that sequence before. No key is needed.

            States of accounts cannot be put back. Those accounts answer as unavailable until their devices bring the states again, one by \
            one; what front ends had accepted for them from the older copy is removed, and accounts that were closed are erased again. \
            Notes, letters and other tables stay as old as the copy is. Interrupted, it can be run again.
            """)

    @OptionGroup var data: DataOption

    func run() async throws {
        let place = DataDirectory(path: data.data)
        do {
            guard let engines = try await SharedEngines.open(place) else { throw StoredDirectoryError.otherForm }
            let done = try await SharedRepair(place, engines, logger: Diagnostics.logger(.warning)).run()
            print("put back \(done.log.entries) entries; the database has \(done.log.size), all that were signed")
            if done.lost > 0 {
                print("without their newest states, until their owners bring them again: \(done.lost) accounts")
            }
        } catch { throw Diagnostics.exit(error) }
    }
}
