// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SignetServer
import TransparencyLog

/// Whom a server asks, before it signs anything, whether its data is the newest.
struct NewestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file on another disk that holds the newest checkpoint, and is written before the checkpoint is "
                + "published. A server whose data is older does not start. Make an empty file there to begin.",
            valueName: "file"))
    var secondMemory: String?

    @Flag(
        help: ArgumentHelp(
            "Do not start unless the second memory, or enough witnesses, confirm that nothing later was published. "
                + "Without this, witnesses that do not answer are only logged."))
    var requireConfirmation = false

    @OptionGroup var disregarded: DisregardedWitnesses

    @Flag(
        help: ArgumentHelp(
            "Start a restored copy although it is not confirmed to be the newest. If it is not the newest, people who "
                + "have seen more will always refuse this directory."))
    var acceptRestored = false

    @Flag(
        help: ArgumentHelp(
            "Start with notes that are older than the log says. The devices of people who have seen more refuse this server "
                + "until their owners accept the loss, with 'signet notes accept-loss'."))
    var acceptLostNotes = false

    @Flag(
        help: ArgumentHelp(
            "Start although this machine's clock is more than a week after what the log signed last, or minutes ahead of the witnesses': "
                + "it is right. The log goes by the time that a quorum of the witnesses names all the same. Clients refuse a log that is ahead of their clocks, and what is signed cannot be taken back."
        ))
    var acceptClock = false

    /// Refuses what would have no effect in a directory on shared engines: there the second memories are the bucket's object `signed`,
    /// what each process keeps in `state`, and the witnesses.
    ///
    /// - Throws: `ValidationError`.
    func requireUnused() throws {
        guard secondMemory == nil, !requireConfirmation, !acceptRestored, !acceptLostNotes, !acceptClock else {
            throw ValidationError(
                "--second-memory, --require-confirmation, --accept-restored, --accept-lost-notes and --accept-clock are for a directory of one machine. "
                    + "On shared engines the bucket, the folder `state` of each machine and the witnesses remember what was signed: "
                    + "take these settings away")
        }
    }

    /// The second memory, if there is one.
    var memory: NewestMemory? { secondMemory.map { NewestMemory(path: $0) } }

    func guarding(_ data: DataDirectory) throws -> RollbackGuard {
        var guarding = RollbackGuard()
        guarding.rule = requireConfirmation ? .confirmed : .standard
        guarding.memory = memory
        guarding.acceptsRestored = acceptRestored
        guarding.acceptsClock = acceptClock
        guarding.disregarded = try disregarded.names(in: data)
        return guarding
    }
}

/// Witnesses that lie: one that names a size that never existed would keep a log from going on.
struct DisregardedWitnesses: ParsableArguments {
    @Option(
        name: .customLong("disregard-witness"),
        help: ArgumentHelp(
            "A witness whose word of what it cosigned last, and of the time, does not count, by its name in the policy; may be repeated.",
            valueName: "name"))
    private var texts: [String] = []

    func validate() throws { _ = try typed() }

    /// The names of witnesses of a data directory.
    ///
    /// A directory that cannot be read has none to compare with; the command ends with the reason then.
    ///
    /// - Throws: `ValidationError`: nobody has one of the names.
    func names(in data: DataDirectory) throws -> Set<Policy.Name> {
        let names = try typed()
        guard let known = try? StoredDirectory.witnessNames(data) else { return names }
        let unknown = names.subtracting(known).map(\.text).sorted()
        guard unknown.isEmpty else {
            let there =
                known.isEmpty ? "there are none" : "there are \(known.map(\.text).sorted().joined(separator: ", "))"
            throw ValidationError(
                "--disregard-witness: the policy in directory.signet has no witness "
                    + "\(unknown.joined(separator: ", ")); \(there)")
        }
        return names
    }

    private func typed() throws -> Set<Policy.Name> {
        Set(
            try texts.map { text in
                guard let name = Policy.Name(Array(text.utf8)) else {
                    throw ValidationError("--disregard-witness: not the name of a witness")
                }
                return name
            })
    }
}
