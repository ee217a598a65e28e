// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SignetServer

/// `signetd backup`
struct Backup: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy all that the server needs to go on, while it runs or while it does not.",
        discussion: """
            The copy is checked before it gets its name; a folder of that name is whole. It holds the keys of the \
            directory unless --secrets takes them elsewhere: keep the two apart, since a thief of both can be the server \
            and can guess passwords. tls/backup.key and tls/ca.key are never copied: they do not belong on the server.

            A log may not go back. A backup can be put to use only if nothing was published after it; a server publishes \
            at least every quarter of an hour. See `signetd run --help` for what tells an older one.

            When it is complete, its time is written into the data directory, and the server shows it as \
            signet_backup_timestamp_seconds. A backup does not fail if that cannot be written.
            """)

    @OptionGroup var data: DataOption

    @Option(name: .customLong("to"), help: ArgumentHelp("The folder to make.", valueName: "directory"))
    var target: String

    @Option(help: ArgumentHelp("Another folder to make, for keys and secrets alone.", valueName: "directory"))
    var secrets: String?

    var places: [String] { [data.data, target] + [secrets].compactMap(\.self) }

    func run() async throws {
        let (place, start) = (DataDirectory(path: data.data), ServerClock.system.time())
        let report: DirectoryCheck.Report
        do {
            report = try await DirectoryBackup(of: place).make(at: target, secrets: secrets)
        } catch { throw Diagnostics.exit(error, besideServerOf: place) }
        print("made \(target)")
        if let secrets { print("made \(secrets): keep it apart from \(target)") }
        for line in report.lines { print(line) }
        do { try BackupMark(of: place).write(start) } catch {
            Diagnostics.complain(
                "the backup is complete, but \(error.path) could not be written, so that the server's metrics do not show it"
            )
        }
        for fault in report.faults { Diagnostics.complain("in the backup too: \(Verdict.of(fault).sentence)") }
    }
}

/// `signetd check`
struct Check: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Read a data directory or a backup whole, and say what is wrong.",
        discussion: """
            Compares the log with what was signed, every tile with the tree, the index with every epoch's record, the \
            accounts with the log, a backup with the list of its files; looks for damage in every database, and for \
            secrets that others can read. Nothing is changed. The server must not be running: check a backup of it.

            Of a directory in shared engines it compares the frames of the database, the objects of the bucket and the accounts with \
            each other and with what was signed and published, and may run beside the others. It needs the files of one machine, and names \
            what a start there would refuse: keys of another directory, files made before a change of keys or witnesses, a change that was \
            interrupted, and engines that are older than what that machine has shown.

            It does not know whether the data is the newest: that is asked of the witnesses when the server starts.
            """)

    @OptionGroup var data: DataOption

    func run() async throws {
        let place = DataDirectory(path: data.data)
        let report: DirectoryCheck.Report
        do throws(SharedEnginesError) {
            if let engines = try await SharedEngines.open(place) {
                report = await DirectoryCheck(of: place).run(in: engines)
            } else {
                report = await DirectoryCheck(of: place).run()
            }
        } catch { throw Diagnostics.exit(error) }
        for line in report.lines { print(line) }
        guard let verdict = report.verdict else {
            print("nothing is wrong")
            return
        }
        for fault in report.faults { print("wrong: \(Verdict.of(fault).sentence)") }
        throw ExitCode(verdict.rawValue)
    }
}

/// `signetd restore`
struct Restore: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Make a data directory of a backup.",
        discussion: """
            Nothing that is there is written over. The backup is checked first. The server that starts with the new \
            directory wants to hear from the witnesses or from its second memory that nothing was published after the \
            backup; see `signetd run --help`.
            """)

    @Option(name: .customLong("from"), help: ArgumentHelp("The backup.", valueName: "directory"))
    var source: String

    @Option(help: ArgumentHelp("The folder with its secrets, if they are kept apart.", valueName: "directory"))
    var secrets: String?

    @OptionGroup var data: DataOption

    func run() async throws {
        let report: DirectoryCheck.Report
        do {
            report = try await DirectoryRestore(of: source, secrets: secrets).make(DataDirectory(path: data.data))
        } catch { throw Diagnostics.exit(error) }
        print("made \(data.data)")
        for line in report.lines { print(line) }
        for fault in report.faults { Diagnostics.complain("as in the backup: \(Verdict.of(fault).sentence)") }
    }
}
