// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import SignetServer

/// `signetd move`
struct Move: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Take a directory of one machine to engines that several machines share.",
        discussion: """
            Stop the server first. The accounts, notes, letters and the log go to a PostgreSQL and to a store that speaks S3; what was \
            copied is read back and compared. Until the last step this directory is what it was. The last step writes the file `engines` \
            and makes the log of this machine one no more.

            Put the object store's key into keys/objects before, mode 0600, with the lines aws_access_key_id = and \
            aws_secret_access_key =. A password of the database belongs into the file that PGPASSFILE names. If the command was interrupted, run it again with --again.

            Then copy the data directory to each machine, without records, notes/notes.sqlite*, recovery.sqlite*, signals.sqlite* and \
            cards/tokens.sqlite*; notes/login.key has to be the same everywhere. A machine that does not sequence needs no keys/log.key \
            and no keys/clock.key. See the guide, "Many machines".
            """)

    @OptionGroup var data: DataOption

    @Option(
        help: ArgumentHelp(
            "A connection string of PostgreSQL, or an address: postgres://user@host/name.", valueName: "address"))
    var database: String

    @Option(help: ArgumentHelp("The address of the object store, such as https://s3.example.org.", valueName: "url"))
    var objects: String

    @Option(help: ArgumentHelp("Its bucket.", valueName: "name"))
    var bucket: String

    @Option(
        help: ArgumentHelp("What stands in front of every path in the bucket, ending in a slash.", valueName: "path"))
    var prefix: String?

    @Option(help: ArgumentHelp("The bucket's region; us-east-1 if not given.", valueName: "name"))
    var region: String?

    @Option(
        help: ArgumentHelp(
            "Certificates in PEM that the object store's is to be of, instead of the system's.", valueName: "file"))
    var authority: String?

    @Flag(help: "A move before was interrupted: replace what it has left.")
    var again = false

    func run() async throws {
        do {
            let file = try EnginesFile(
                database: database, objects: objects, bucket: bucket, prefix: prefix, region: region,
                authority: authority)
            let move = DirectoryMove(DataDirectory(path: data.data), logger: Diagnostics.logger(LevelInForce(.info)))
            let report = try await move.run(to: file, isRepeated: again)
            print(
                "moved \(report.entries) entries of the log and \(report.rows) rows; both were read back and are the same"
            )
            print("keys/shared-secret is what all machines share")
        } catch let error as EnginesFileError { throw Diagnostics.exit(SharedEnginesError.engines(error)) } catch {
            throw Diagnostics.exit(error)
        }
    }
}
