// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import SignetServer

/// `signetd move`
struct Move: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Take a directory of one machine to engines that several machines share, or back.",
        discussion: """
            Stop the server first, on all machines. What was copied is read back and compared, and until the last step the directory is \
            what it was. If the command was interrupted, run it again.

            --to postgres (what it does without --to): the accounts, notes, letters and the log go to a PostgreSQL and to a store that \
            speaks S3. The last step writes the file `engines` and makes the log of this machine one no more. After an interruption, \
            add --again.

            Put the object store's key into keys/objects before, mode 0600, with the lines aws_access_key_id = and \
            aws_secret_access_key =. A password of the database belongs into the file that PGPASSFILE names.

            Then copy the data directory to each machine, without records, notes/notes.sqlite*, recovery.sqlite*, signals.sqlite* and \
            cards/tokens.sqlite*; notes/login.key has to be the same everywhere. A machine that does not sequence needs no keys/log.key \
            and no keys/clock.key. See the guide, "Many machines".

            --to files: back to one machine, in the data directory of a process that sequences. Nothing may be at the paths named above. \
            It refuses where a witness has cosigned, or this machine has shown, more than the database has, and where the log's key or \
            its witnesses were changed on another machine. \
            The last steps take the log out of the database, burn the object `signed`, and put the files in their places.
            """)

    /// Where a directory can go.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case postgres, files
    }

    @OptionGroup var data: DataOption

    @Option(help: ArgumentHelp("Where to: postgres or files.", valueName: "form"))
    var to = Form.postgres

    @Option(
        help: ArgumentHelp(
            "A connection string of PostgreSQL, or an address: postgres://user@host/name.", valueName: "address"))
    var database: String?

    @Option(help: ArgumentHelp("The address of the object store, such as https://s3.example.org.", valueName: "url"))
    var objects: String?

    @Option(help: ArgumentHelp("Its bucket.", valueName: "name"))
    var bucket: String?

    @Option(
        help: ArgumentHelp("What stands in front of every path in the bucket, ending in a slash.", valueName: "path"))
    var prefix: String?

    @Option(help: ArgumentHelp("The bucket's region; us-east-1 if not given.", valueName: "name"))
    var region: String?

    @Option(
        help: ArgumentHelp(
            "Certificates in PEM that the object store's is to be of, instead of the system's.", valueName: "file"))
    var authority: String?

    @Flag(help: "A move to PostgreSQL before was interrupted: replace what it has left.")
    var again = false

    @Flag(
        help: ArgumentHelp(
            "With --to files: go on without the pieces of files of notes that the bucket has lost, and say how many "
                + "they are."))
    var withoutLostFiles = false

    @Option(help: ArgumentHelp("Root certificates of witnesses, besides the system's, PEM.", valueName: "file"))
    var witnessRoots: String?

    @OptionGroup var newest: NewestOptions

    func validate() throws {
        let named = [database, objects, bucket].compactMap(\.self).count
        if to == .postgres, named < 3 {
            throw ValidationError("--to postgres needs --database, --objects and --bucket")
        }
        if to == .postgres, withoutLostFiles { throw ValidationError("--without-lost-files: only with --to files") }
        if to == .files, named + [prefix, region, authority].compactMap(\.self).count > 0 || again {
            throw ValidationError(
                "--to files reads the file engines, and takes no other option than --without-lost-files, --witness-roots and "
                    + "--disregard-witness")
        }
        if to == .files { try newest.requireUnused() }
    }

    func run() async throws {
        let data = DataDirectory(path: data.data)
        let guarding = try newest.guarding(data)
        do {
            let report = try await move(data, guarding)
            print(
                "moved \(report.entries) entries of the log and \(report.rows) rows; both were read back and are the same"
            )
            if to == .postgres { print("keys/shared-secret is what all machines share") }
        } catch let error as EnginesFileError { throw Diagnostics.exit(SharedEnginesError.engines(error)) } catch {
            throw Diagnostics.exit(error)
        }
    }

    private func move(_ data: DataDirectory, _ guarding: RollbackGuard) async throws -> DirectoryMove.Report {
        let roots = try witnessRoots.map { try OptionFile.read($0, "--witness-roots") } ?? []
        guard to == .postgres, let database, let objects, let bucket else {
            return try await DirectoryReturn(
                data, acceptsLoss: withoutLostFiles, witnessRoots: roots,
                disregarding: guarding.disregarded, logger: Diagnostics.logger(.warning)
            ).run()
        }
        let file = try EnginesFile(
            database: database, objects: objects, bucket: bucket, prefix: prefix, region: region, authority: authority)
        return try await DirectoryMove(
            data, guarding: guarding, witnessRoots: roots, logger: Diagnostics.logger(.error)
        ).run(to: file, isRepeated: again)
    }
}
