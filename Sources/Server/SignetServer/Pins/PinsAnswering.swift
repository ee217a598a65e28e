// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyPinning
import KeyTransparency
import LogEngine
package import Logging
import ObjectStores
import Platform
package import SignetAPI
import TransparencyLog

/// Says by which TLS keys the server is known, and has the log say it too.
///
/// The files are read again at every interval: what ``TLSRotation`` puts there is logged and shown without a restart.
package actor PinsAnswering: PartAnswering {
    /// Where several machines share a directory, the log tells of a change only so long after it was made, in seconds: from then on clients
    /// refuse a front end to which its files were not copied.
    static let copyingTime: UInt64 = 600

    private let data: DataDirectory
    private let profile: DirectoryProfile
    private let directory: Directory
    /// Nil in a process that does not have the log's key: it shows what the one that has it has put down.
    private let signer: NoteSigner?
    private let objects: (any ObjectStore)?
    private let isShared: Bool
    private let clock: @Sendable () -> UInt64
    private let logger: Logger
    private let tls: ServerTLS?
    private let own: (@Sendable () throws -> TLSIdentity)?
    /// By version.
    private var notes: [UInt64: LoggedText] = [:]
    /// The same is said again only after so long, in seconds; and what was put down is looked at again.
    private static let repetition: UInt64 = 600
    /// What was said, and when.
    private var said: [String: UInt64] = [:]
    /// What the round under way has said.
    private var wanted: Set<String> = []

    /// A certificate is not one that clients accept.
    private struct RefusedByClients: Error {
        let word: String
        /// Whether it is in use nevertheless, since the server was started with it.
        let isInUse: Bool

        /// Whether the certificate only begins later, by this machine's clock.
        var isEarly: Bool { word == "notYetValid" }

        func sentence(isOwn: Bool) -> Logger.Message {
            if isEarly {
                return
                    "the certificate is not valid yet by this machine's clock: if the clock is behind, set it; otherwise clients refuse the certificate, so renew it for the same key"
            }
            guard !isOwn else {
                return isInUse
                    ? "clients refuse the certificate of --tls-cert; after `signetd rotate tls` it has to be for the key of tls/server.key"
                    : "clients would refuse the certificate of --tls-cert; the former one stays in use"
            }
            return isInUse
                ? "clients refuse the certificate in tls/server.pem: renew it"
                : "clients would refuse the certificate in tls/server.pem; the former one stays in use"
        }
    }

    /// The operator's own files of key and certificate were not read.
    private struct OwnFilesUnusable: Error {}

    /// Another machine has put down another version of the same number.
    private struct OtherAnnounced: Error { let version: UInt64 }

    private struct LoggedText {
        let time: UInt64
        /// Whether it has a key that the pins before had too: without one nobody waits for the files to be copied.
        let follows: Bool
        let text: [UInt8]
        let note: [UInt8]
        /// When it was put down, or found where it was put down.
        var putDown: UInt64
    }

    /// Answers from the files of a data directory.
    ///
    /// - Parameters:
    ///   - tls: gets the key and certificate that are there; nil: none is told.
    ///   - own: reads the operator's own files, in the place of those of the data directory; nil: there are none.
    /// - Throws: ``StoredDirectoryError``: the log's key cannot be read.
    package init(
        _ data: DataDirectory, beside stored: StoredDirectory, switching tls: ServerTLS? = nil,
        own: (@Sendable () throws -> TLSIdentity)? = nil, clock: @escaping @Sendable () -> UInt64, logger: Logger
    ) throws(StoredDirectoryError) {
        self.data = data
        self.tls = tls
        self.own = own
        self.clock = clock
        self.logger = logger
        profile = stored.profile
        directory = stored.directory
        signer = directory.writesLog ? try StoredDirectory.readKeys(data, stored.profile).log : nil
        objects = stored.engines?.objects
        isShared = stored.engines != nil
    }

    package nonisolated var routes: [any PartRoute] { PinsRoute.allCases }

    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        let size: UInt64
        do { size = try PinsRequest(decoding: request.body).size } catch { throw PartRefusal(.badRequest) }
        do throws(DirectoryError) {
            try await directory.catchUp(to: size)
            guard let place = try directory.newestRecord(under: .pins, in: size), let known = notes[place.version]
            else { return PinsAnswer.anotherEpoch.encoded }
            return PinsAnswer.pins(LoggedPins(note: known.note, place: place)).encoded
        } catch { throw PartRefusal(waiting: error) }
    }

    /// Reads the files: serves with what is there now, and logs what is newer than the log.
    package func keepUp() async {
        wanted = []
        do {
            let all = try read()
            let agrees = compareWithLog(all)
            if agrees {
                try await load(all)
                tls?.judge(pins: true)
            } else {
                notes = [:]
            }
            try await switchIdentity(of: all.last?.server)
            if agrees { try await log() }
        } catch LogWaitError.belowQuorum {
            // Logged as soon as the quorum cosigns again.
        } catch DirectoryError.refused(.unwitnessed) {
            // Published as soon as the quorum has cosigned.
        } catch StoredDirectoryError.identity(.notPinned) {
            say("tls/server.pem is for a key that no client accepts; the former certificate stays in use")
        } catch let error as RefusedByClients {
            say(error.sentence(isOwn: own != nil), ["why": "\(error.word)"])
        } catch StoredDirectoryError.identity {
            say("tls/server.pem or tls/server.key cannot be used; the former certificate stays in use")
        } catch is OwnFilesUnusable {
            say("the files of --tls-cert and --tls-key cannot be used; the former certificate stays in use")
        } catch is TLSIdentityError {
            let files = own == nil ? "tls/server.pem and tls/server.key" : "--tls-cert and --tls-key"
            say("\(files) do not belong together; the former certificate stays in use")
        } catch StoredPinsError.file(let failure) where failure.code == ENOENT {
            tls?.judge(pins: false)
            say(
                "the pins are missing, so clients are shown none and say so to their people: restore tls/pins from the newest backup; see the guide, disasters.md, \"The pins are lost\"",
                ["file": "\(failure.path)"])
        } catch StoredPinsError.file(let failure) where [EMFILE, ENFILE].contains(failure.code) {
            say(
                "the pins could not be read now, because too many files are open; nothing is wrong with them: raise LimitNOFILE in the unit",
                ["file": "\(failure.path)"])
        } catch let error as StoredPinsError {
            tls?.judge(pins: false)
            say("the pins cannot be used, so none are logged: restore them", ["why": "\(error)"])
        } catch let error as OtherAnnounced {
            tls?.judge(pins: false)
            say(
                "another machine has made other pins of the same version: copy directory.signet and the folder tls from there; see the guide, machines.md, \"Changing the log's key or its witnesses\"",
                ["version": "\(error.version)"])
        } catch {
            say("pins: the newest were not logged; trying again later")
        }
        said = said.filter { wanted.contains($0.key) }
    }

    /// Says what an operator has to attend to, and not the same at every interval.
    private func say(_ message: Logger.Message, _ metadata: Logger.Metadata = [:]) {
        let (line, now) = ("\(message)" + metadata.values.map { "\($0)" }.sorted().joined(separator: " "), clock())
        wanted.insert(line)
        if let before = said[line], !Self.isDue(before, at: now) { return }
        said[line] = now
        logger.error(message, metadata: metadata)
    }

    private static func isDue(_ before: UInt64, at now: UInt64) -> Bool { now < before || now - before >= repetition }

    package func close() async {}

    /// Pins as they are served; nil if they are not at hand.
    package func note(version: UInt64) -> [UInt8]? { notes[version]?.note }

    /// Before the log tells clients to forget the key of before.
    ///
    /// - Parameter trust: of the newest pins; nil: there are none, and everything is taken.
    private func switchIdentity(of trust: ServerTrust?) async throws {
        guard let tls else { return }
        do {
            let identity = try readIdentity(pinnedBy: trust)
            if let trust, let word = await identity.refusal(by: trust, at: profile.url, clock()) {
                throw RefusedByClients(word: word, isInUse: tls.identity == identity)
            }
            let isAnother = try tls.replace(with: identity)
            tls.judge(files: .usable)
            if isAnother { logger.notice("new connections get another certificate") }
        } catch {
            tls.judge(files: (error as? RefusedByClients)?.isEarly == true ? .early : .refused)
            throw error
        }
    }

    private func readIdentity(pinnedBy trust: ServerTrust?) throws -> TLSIdentity {
        guard let own else { return try StoredDirectory.readIdentity(data, pinnedBy: trust?.pins ?? []) }
        do { return try own() } catch { throw OwnFilesUnusable() }
    }

    /// Clients were told to forget the key of a server that does not have the newest pins; and they refuse pins that the log does not have.
    ///
    /// - Returns: whether the pins in the files are the log's, or follow on these.
    private func compareWithLog(_ all: [DirectoryPins]) -> Bool {
        let logged = directory.newest(under: .pins)
        let standing = StoredPins.standing(of: all, to: logged)
        if standing != .agreed { tls?.judge(pins: false) }
        let numbers: Logger.Metadata = [
            "logged": "\(logged?.version ?? 0)", "here": "\(all.last?.version ?? 0)",
        ]
        switch standing {
        case .agreed: return true
        case .older:
            say(
                "the log shows newer pins than the files here: clients are shown none and say so to their people, and refuse this server if its key is not among the newest; copy directory.signet and the folder tls here, from the newest machine or backup",
                numbers)
        case .other:
            say(
                "the log shows other pins of the same version than the files here: clients are shown none and say so to their people, and refuse this server if its key is not among those of the log; copy directory.signet and the folder tls here, from the machine or backup that has those of the log",
                numbers)
        }
        return false
    }

    /// - Returns: those before the newest, if they are there, and the newest.
    private func read() throws -> [DirectoryPins] {
        _ = try TLSRotation(data).complete()
        return try StoredPins.all(in: data, of: profile, at: clock(), isFirst: directory.version(of: .pins) == 0)
    }

    private func load(_ all: [DirectoryPins]) async throws {
        for (place, pins) in all.enumerated() {
            let text = pins.text
            let former = place > 0 && all[place - 1].version < pins.version ? all[place - 1].server.pins.map(\.key) : []
            if let known = notes[pins.version], known.text == text {
                try await putAgain(known, of: pins)
                continue
            }
            guard let note = try await note(of: pins) else { continue }
            notes[pins.version] = LoggedText(
                time: pins.time, follows: pins.server.pins.contains { former.contains($0.key) }, text: text, note: note,
                putDown: clock())
        }
    }

    /// Whoever can write to the bucket may have removed it or written over it: front ends that start later would show no pins. A bucket that
    /// is away hinders nothing else.
    private func putAgain(_ known: LoggedText, of pins: DirectoryPins) async throws {
        let now = clock()
        guard signer != nil, Self.isDue(known.putDown, at: now) else { return }
        do {
            try await put(known.note, of: pins, at: SharedEngines.pinsPath(pins.version))
            notes[pins.version]?.putDown = now
        } catch let fault as ObjectFault {
            say("the pins were not put down again for front ends; trying again later", ["why": "\(fault)"])
        }
    }

    /// Signed here, and put down for those that cannot sign; or as it was put down.
    private func note(of pins: DirectoryPins) async throws -> [UInt8]? {
        let path = SharedEngines.pinsPath(pins.version)
        guard let signer else {
            guard let bytes = try await objects?.get(path)?.bytes, pinsPutDown(bytes, as: pins.version) == pins
            else { return nil }
            return bytes
        }
        let note = try pins.note(by: signer)
        try await put(note, of: pins, at: path)
        return note
    }

    /// What the log's key has not signed is written over: the same text signed by a key that the log had before, or what somebody has put there
    /// who can write to the bucket. Another machine's pins, of which the log was not told, stay.
    private func put(_ note: [UInt8], of pins: DirectoryPins, at path: String) async throws {
        guard let objects else { return }
        let there = try await objects.get(path)
        guard there?.bytes != note else { return }
        let other = there.flatMap { pinsPutDown($0.bytes, as: pins.version) }
        guard try other == nil || other == pins || directory.isNewest(pins.text, under: .pins) else {
            throw OtherAnnounced(version: pins.version)
        }
        // What has come meanwhile may be another machine's.
        guard case .swapped = try await objects.swap(note, at: path, after: there?.tag) else {
            throw ObjectFault.contradiction(path: path)
        }
    }

    private func pinsPutDown(_ bytes: [UInt8], as version: UInt64) -> DirectoryPins? {
        SharedEngines.pins(bytes, version, signedByOneOf: profile.trust.policy.logs)
    }

    /// Whether there was time to copy what was made at a time.
    static func mayTell(of time: UInt64, at now: UInt64) -> Bool { now >= time + copyingTime }

    private func log() async throws {
        guard directory.writesLog else { return }
        let next = directory.version(of: .pins) + 1
        guard !directory.hasEnded, let newest = notes[next] else { return }
        guard !isShared || !newest.follows || Self.mayTell(of: newest.time, at: clock()) else { return }
        // The time until the reserve key may be used counts from the record's epoch: before, enough witnesses have to be there to publish it.
        try await directory.republish()
        try await directory.log(newest.text, under: .pins, version: next)
    }
}
