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
    private let data: DataDirectory
    private let profile: DirectoryProfile
    private let directory: Directory
    /// Nil in a process that does not have the log's key: it shows what the one that has it has put down.
    private let signer: NoteSigner?
    private let objects: (any ObjectStore)?
    private let clock: @Sendable () -> UInt64
    private let logger: Logger
    private let tls: ServerTLS?
    /// By version.
    private var notes: [UInt64: LoggedText] = [:]

    private struct LoggedText {
        let text: [UInt8]
        let note: [UInt8]
    }

    /// Answers from the files of a data directory.
    ///
    /// - Parameter tls: gets the key and certificate that are there; nil: the server has its own.
    /// - Throws: ``StoredDirectoryError``: the log's key cannot be read.
    package init(
        _ data: DataDirectory, beside stored: StoredDirectory, switching tls: ServerTLS? = nil,
        clock: @escaping @Sendable () -> UInt64, logger: Logger
    ) throws(StoredDirectoryError) {
        self.data = data
        self.tls = tls
        self.clock = clock
        self.logger = logger
        profile = stored.profile
        directory = stored.directory
        signer = directory.writesLog ? try StoredDirectory.readKeys(data, stored.profile).log : nil
        objects = stored.engines?.objects
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
            try switchIdentity(pinnedBy: newest)
            try await log()
        } catch DirectoryError.refused(.unwitnessed) {
            // Published as soon as the quorum has cosigned.
        } catch StoredDirectoryError.identity(.notPinned) {
            logger.error("tls/server.pem is for a key that no client accepts; the certificate of before stays in use")
        } catch {
            logger.error("pins: the newest were not read, or not logged; trying again later")
        }
    }

    package func close() async {}

    /// Pins as they are served; nil if they are not at hand.
    package func note(version: UInt64) -> [UInt8]? { notes[version]?.note }

    /// Before the log tells clients to forget the key of before.
    private func switchIdentity(pinnedBy pins: [Pin]) throws {
        guard let tls else { return }
        do {
            let isAnother = try tls.replace(with: StoredDirectory.readIdentity(data, pinnedBy: pins))
            tls.judge(files: true)
            if isAnother { logger.notice("new connections get another certificate") }
        } catch {
            tls.judge(files: false)
            throw error
        }
    }

    /// - Returns: the newest.
    private func load() async throws -> [Pin] {
        _ = try TLSRotation(data).complete()
        let all = try StoredPins.all(in: data, of: profile, at: clock())
        for pins in all {
            let text = pins.text
            guard notes[pins.version]?.text != text else { continue }
            guard let note = try await note(of: pins) else { continue }
            notes[pins.version] = LoggedText(text: text, note: note)
        }
        return all.last?.server.pins ?? []
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
        try await objects?.putImmutable(note, at: path)
        return note
    }

    private func log() async throws {
        guard directory.writesLog else { return }
        let next = directory.version(of: .pins) + 1
        guard !directory.hasEnded, let newest = notes[next] else { return }
        try await directory.log(newest.text, under: .pins, version: next)
    }
}
