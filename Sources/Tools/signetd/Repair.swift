// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyDirectory
import LogFencing
import Logging
import NoteStore
import SharedLog
import SignetServer
import TransparencyLog

/// `signetd repair`
struct Repair: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair", abstract: "Put back what the shared database or the bucket lacks of the log.",
        discussion: """
            For a database that has fewer entries than were signed, because an older copy was restored or a standby was promoted that \
            lacked some. First look for a copy that has them: what is put back is the log alone. The entries are read from the bucket, and \
            must make the root that the log's key has signed; nothing else is believed, and nothing is signed. Stop the front ends and the \
            processes that sequence before. No key is needed.

            States of accounts cannot be put back. Those accounts answer as unavailable until their devices bring the states again, one by \
            one; what front ends had accepted for them from the older copy is removed, and accounts that were closed are erased again. \
            Notes, letters and other tables stay as old as the copy is. Interrupted, it can be run again. \
            Then the witnesses are asked whether they have cosigned more; one that does not answer is named, and passed over.

            --objects is for a bucket that is lost, emptied, damaged, or older than the database: what the log has there is made again \
            from the entries in the database. Stop the processes that sequence before, and run it on a machine of theirs: with the log's \
            key it signs the whole log, and writes that into the object `signed`. It refuses if that object or `checkpoint` \
            has more than the database, or something else, and if a witness has cosigned another log, or more than was published and `signed` has. Without `signed` it wants to hear from so many witnesses that nothing \
            later can have been published without one of them. It refuses while a change of the log's key or its witnesses is \
            interrupted, and with keys or files made before one: run the same `signetd rotate` again first. Nothing is written before every object was compared; one that is not \
            the log's is named, and stays until --replace names it. Files of notes cannot be made again: those that are lost are counted.
            """)

    @OptionGroup var data: DataOption

    @Flag(help: "Make what the bucket lacks, from the database.")
    var objects = false

    @Option(
        help: ArgumentHelp(
            "With --objects: write over this object, which is not the log's; may be repeated.", valueName: "path"))
    var replace: [String] = []

    @Flag(
        help: ArgumentHelp(
            "With --objects: go on although the object `signed` is lost and too few witnesses say what they have cosigned. Only the "
                + "database says then what was signed last. If it is an older copy, the log forks: clients that have seen more will "
                + "always refuse this directory, and have evidence against it. Whoever can remove `signed` may want just that."
        ))
    var acceptUnconfirmed = false

    @Option(
        help: ArgumentHelp(
            "Root certificates of witnesses, besides the system's, PEM.", valueName: "file"))
    var witnessRoots: String?

    @OptionGroup var disregarded: DisregardedWitnesses

    func validate() throws {
        guard objects || replace.isEmpty && !acceptUnconfirmed else {
            throw ValidationError("--replace and --accept-unconfirmed: only with --objects")
        }
    }

    func run() async throws {
        let place = DataDirectory(path: data.data)
        let names = try disregarded.names(in: place)
        do {
            let found = objects ? try await SharedEngines.openAny(place) : try await SharedEngines.open(place)
            guard let engines = found else {
                _ = try StoredDirectory.readProfile(place)
                throw StoredDirectoryError.notShared
            }
            if objects {
                try await makeObjects(place, engines, names)
            } else {
                try await putBack(place, engines, names)
            }
        } catch { throw Diagnostics.exit(error) }
    }

    private func putBack(
        _ place: DataDirectory, _ engines: SharedEngines, _ disregarded: Set<Policy.Name>
    ) async throws {
        let roots = try witnessRoots.map { try OptionFile.read($0, "--witness-roots") } ?? []
        let report = try await SharedRepair(
            place, engines, witnessRoots: roots, disregarding: disregarded,
            logger: Diagnostics.logger(.warning)
        ).run()
        let done = report.done
        print(
            "put back \(done.log.entries) entries; the database has \(done.log.size)"
                + (report.missing == nil ? ", all that the bucket's object `signed` names" : ""))
        if done.lost > 0 {
            print("without their newest states, until their owners bring them again: \(done.lost) accounts")
        }
        if let missing = report.missing { throw RepairIncomplete(size: done.log.size, missing: missing) }
    }

    private func makeObjects(
        _ place: DataDirectory, _ engines: SharedEngines, _ disregarded: Set<Policy.Name>
    ) async throws {
        var request = ObjectsRequest()
        request.replaced = Set(replace)
        request.acceptsUnconfirmed = acceptUnconfirmed
        request.disregarded = disregarded
        let roots = try witnessRoots.map { try OptionFile.read($0, "--witness-roots") } ?? []
        let report = try await SharedObjectsRepair(
            place, engines, request, witnessRoots: roots, logger: Diagnostics.logger(.warning)
        ).run()
        for line in report.lines { print(line) }
    }
}

/// This machine has shown, or a witness cosigned, more than the database has after a repair: the bucket has lost the rest, or is an older copy
/// itself.
struct RepairIncomplete: Error {
    let size: UInt64
    let missing: SeenHead
}

extension SharedObjectsRepair.Report {
    /// What there is to say.
    fileprivate var lines: [String] {
        var lines = ["made \(objects.made) objects; the bucket has what the log needs for its \(objects.size) entries"]
        if objects.replaced > 0 { lines.append("written over: \(objects.replaced) objects") }
        if objects.hasNewMemory {
            lines.append(
                objects.isConfirmed
                    ? "the object `signed` was made anew; witnesses know of nothing later"
                    : "the object `signed` was made anew; nobody has confirmed that nothing later was signed")
        }
        if !objects.silent.isEmpty {
            lines.append("witnesses that did not answer: \(objects.silent.map(\.text).joined(separator: ", "))")
        }
        guard let lost else { return lines + ["files of notes were not counted; run it again for that"] }
        if lost.pieces > 0 {
            lines.append(
                "lost, and answered as unavailable: \(lost.pieces) pieces of \(lost.files) files of notes, stored by "
                    + "\(lost.accounts) accounts")
        }
        return lines
    }
}
