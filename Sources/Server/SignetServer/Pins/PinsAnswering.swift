// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyPinning
import KeyTransparency
package import Logging
import ObjectStores
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
    private let isOwn: Bool
    /// By version.
    private var notes: [UInt64: LoggedText] = [:]

    /// A certificate is not one that clients accept.
    private struct RefusedByClients: Error {
        let word: String
        /// Whether it is in use nevertheless, since the server was started with it.
        let isInUse: Bool

        func sentence(isOwn: Bool) -> Logger.Message {
            guard !isOwn else {
                return
                    "clients refuse the certificate of --tls-cert; after `signetd rotate tls` it has to be for the key of tls/server.key"
            }
            return isInUse
                ? "clients refuse the certificate in tls/server.pem: renew it"
                : "clients would refuse the certificate in tls/server.pem; the one of before stays in use"
        }
    }

    private struct LoggedText {
        let time: UInt64
        /// Whether it has a key that the pins before had too: without one nobody waits for the files to be copied.
        let follows: Bool
        let text: [UInt8]
        let note: [UInt8]
    }

    /// Answers from the files of a data directory.
    ///
    /// - Parameters:
    ///   - tls: gets the key and certificate that are there; nil: none is told.
    ///   - isOwn: whether those of `tls` are the operator's own files, which are read once: they are only judged.
    /// - Throws: ``StoredDirectoryError``: the log's key cannot be read.
    package init(
        _ data: DataDirectory, beside stored: StoredDirectory, switching tls: ServerTLS? = nil,
        isOwn: Bool = false, clock: @escaping @Sendable () -> UInt64, logger: Logger
    ) throws(StoredDirectoryError) {
        self.data = data
        self.tls = tls
        self.isOwn = isOwn
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
        do {
            let newest = try await load()
            compareWithLog(newest?.version ?? 0)
            try await switchIdentity(of: newest?.server)
            try await log()
        } catch DirectoryError.refused(.unwitnessed) {
            // Published as soon as the quorum has cosigned.
        } catch StoredDirectoryError.identity(.notPinned) {
            logger.error("tls/server.pem is for a key that no client accepts; the certificate of before stays in use")
        } catch let error as RefusedByClients {
            logger.error(error.sentence(isOwn: isOwn), metadata: ["why": "\(error.word)"])
        } catch StoredDirectoryError.identity {
            logger.error("tls/server.pem or tls/server.key cannot be used; the certificate of before stays in use")
        } catch is TLSIdentityError {
            logger.error(
                "tls/server.pem and tls/server.key do not belong together; the certificate of before stays in use")
        } catch let error as StoredPinsError {
            logger.error("the pins cannot be used, so none are logged: restore them", metadata: ["why": "\(error)"])
        } catch {
            logger.error("pins: the newest were not logged; trying again later")
        }
    }

    package func close() async {}

    /// Pins as they are served; nil if they are not at hand.
    package func note(version: UInt64) -> [UInt8]? { notes[version]?.note }

    /// Before the log tells clients to forget the key of before.
    ///
    /// - Parameter trust: of the newest pins; nil: there are none, and everything is taken.
    private func switchIdentity(of trust: ServerTrust?) async throws {
        guard let tls else { return }
        do {
            let identity = isOwn ? tls.identity : try StoredDirectory.readIdentity(data, pinnedBy: trust?.pins ?? [])
            if let trust, let word = await identity.refusal(by: trust, at: profile.url, clock()) {
                throw RefusedByClients(word: word, isInUse: tls.identity == identity)
            }
            let isAnother = try tls.replace(with: identity)
            tls.judge(files: true)
            if isAnother { logger.notice("new connections get another certificate") }
        } catch {
            tls.judge(files: false)
            throw error
        }
    }

    /// Clients were told to forget the key of a server that does not have the newest pins.
    private func compareWithLog(_ version: UInt64) {
        let logged = directory.version(of: .pins)
        tls?.judge(pins: logged <= version)
        guard logged > version else { return }
        logger.error(
            "clients refuse this server: the log shows newer pins than its files have; copy directory.signet and the folder tls here",
            metadata: ["logged": "\(logged)", "here": "\(version)"])
    }

    /// - Returns: the newest.
    private func load() async throws -> DirectoryPins? {
        _ = try TLSRotation(data).complete()
        let all = try StoredPins.all(in: data, of: profile, at: clock())
        for (place, pins) in all.enumerated() {
            let text = pins.text
            let former = place > 0 ? all[place - 1].server.pins.map(\.key) : []
            guard notes[pins.version]?.text != text else { continue }
            guard let note = try await note(of: pins) else { continue }
            notes[pins.version] = LoggedText(
                time: pins.time, follows: pins.server.pins.contains { former.contains($0.key) }, text: text, note: note)
        }
        return all.last
    }

    /// Signed here, and put down for those that cannot sign; or as it was put down.
    private func note(of pins: DirectoryPins) async throws -> [UInt8]? {
        let path = "pins/\(pins.version)"
        guard let signer else {
            // Whoever holds the bucket can put anything there.
            guard let bytes = try await objects?.get(path)?.bytes, let note = try? SignedNote(decoding: bytes),
                note.text == pins.text,
                note.signatures.contains(where: { signature in
                    profile.trust.policy.logs.contains {
                        signature.isClaimed(by: $0) && (try? $0.verifyLogSignature(signature, of: note.text)) != nil
                    }
                })
            else { return nil }
            return bytes
        }
        let note = try pins.note(by: signer)
        try await put(note, of: pins.text, at: path)
        return note
    }

    /// The same text may be there signed by a key that the log had before.
    private func put(_ note: [UInt8], of text: [UInt8], at path: String) async throws {
        guard let objects else { return }
        if let there = try await objects.get(path), there.bytes != note,
            (try? SignedNote(decoding: there.bytes))?.text == text
        {
            _ = try await objects.swap(note, at: path, after: there.tag)
        } else {
            try await objects.putImmutable(note, at: path)
        }
    }

    /// Whether there was time to copy what was made at a time.
    static func mayTell(of time: UInt64, at now: UInt64) -> Bool { now >= time + copyingTime }

    private func log() async throws {
        guard directory.writesLog else { return }
        let next = directory.version(of: .pins) + 1
        guard !directory.hasEnded, let newest = notes[next] else { return }
        guard !isShared || !newest.follows || Self.mayTell(of: newest.time, at: clock()) else { return }
        try await directory.log(newest.text, under: .pins, version: next)
    }
}
