// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import LogEngine
package import Logging
import ObjectStores
package import SharedLog
import SignetAPI
import TransparencyLog

/// What a log says of its server's pins, read beside the server that writes it: a change of TLS keys has to follow on it.
package struct PinsInLog: Sendable {
    /// The newest record, published or not; nil: the log has none.
    let newest: ReservedRecord?
    /// The newest version that is published: clients can have learned of no later one. Nil: there is none.
    let published: PublishedVersion?
    /// When the log signed last, in seconds since 1970; nil: it has signed nothing.
    let signed: UInt64?
    /// The text of the version after that, if another machine of the directory has made one.
    var announced: [UInt8]?

    init(
        newest: ReservedRecord? = nil, published: PublishedVersion? = nil, signed: UInt64? = nil,
        announced: [UInt8]? = nil
    ) {
        (self.newest, self.published, self.signed, self.announced) = (newest, published, signed, announced)
    }

    /// Reads the log of a data directory whole: its files, or the database that several machines share. No entry is written.
    ///
    /// - Throws: ``StoredDirectoryError``: it cannot be read.
    package static func read(
        _ data: DataDirectory, logger: Logger
    ) async throws(StoredDirectoryError) -> PinsInLog {
        let engines: SharedEngines?
        do throws(SharedEnginesError) { engines = try await SharedEngines.open(data) } catch {
            throw .shared(SharedSetupError(error))
        }
        guard let engines else { return try files(of: data) }
        return try await shared(data, engines, logger: logger)
    }

    private static let maximumTries = 3

    /// Of one machine.
    private static func files(of data: DataDirectory) throws(StoredDirectoryError) -> PinsInLog {
        let log = LogCopy(of: data.log)
        var last: LogOpenError?
        // A frame that the server writes meanwhile can look damaged.
        for _ in 0..<maximumTries {
            do throws(LogOpenError) {
                let signed = try log.signedHead()
                // In this order: a log that no witness had cosigned until then has shown what it had signed.
                let size = try publishedSize(of: log, signed)
                let (newest, published) = try ReservedRecord.newest(under: .pins, in: log, publishedTo: size)
                return PinsInLog(
                    newest: newest, published: published, signed: DirectoryAdapter.time(of: signed.note))
            } catch {
                // No server has started yet.
                if case .noLog = error { return PinsInLog() }
                last = error
            }
        }
        guard let last else { return PinsInLog() }
        throw .directory(.log(last))
    }

    /// Where witnesses are waited for, what is signed and durable may be unknown to everybody else.
    private static func publishedSize(of log: LogCopy, _ signed: SignedHead) throws(LogOpenError) -> UInt64 {
        guard let checkpoint = try? Checkpoint(decoding: signed.note.text) else { return signed.head.size }
        return try log.publishedHead(origin: checkpoint.origin)?.head.size ?? signed.head.size
    }

    /// Of several machines.
    static func shared(
        _ data: DataDirectory, _ engines: SharedEngines, logger: Logger
    ) async throws(StoredDirectoryError) -> PinsInLog {
        let profile = try StoredDirectory.readProfile(data)
        let place = try StoredDirectory.place(data, engines, profile, FrontEndSecret(), keepsState: false, logger)
        defer { place.close() }
        do throws(SharedDirectoryError) {
            let replica = try await place.follow(steady: StoredDirectory.steadyClock())
            var found: PinsInLog
            do throws(DurableLogReadError) { found = try await followed(by: replica) } catch {
                await replica.close()
                throw SharedDirectoryError.log(.fault(.unavailable("log: \(error)")))
            }
            await replica.close()
            found.announced = try await announced(
                (found.newest?.version ?? 0) + 1, engines.objects, profile.trust.policy.logs)
            return found
        } catch { throw .shared(SharedSetupError(error)) }
    }

    /// What a process of several shows: nothing else is known to it.
    private static func followed(by replica: DirectoryReplica) async throws(DurableLogReadError) -> PinsInLog {
        PinsInLog(
            newest: replica.newest(under: .pins), published: try await replica.newestVersion(under: .pins),
            signed: replica.lastEpochTime)
    }

    private static func announced(
        _ version: UInt64, _ objects: any ObjectStore, _ logs: [VerifierKey]
    ) async throws(SharedDirectoryError) -> [UInt8]? {
        do throws(ObjectFault) {
            guard let bytes = try await objects.get(SharedEngines.pinsPath(version))?.bytes else { return nil }
            return SharedEngines.pins(bytes, version, signedByOneOf: logs)?.text
        } catch { throw .log(.fault(.unavailable("objects: \(error)"))) }
    }
}

extension SharedEngines {
    /// Where the process that has the log's key puts down a version of the pins, for those that have not.
    static func pinsPath(_ version: UInt64) -> String { "pins/\(version)" }

    /// The pins that were put down as a version; nil if the bytes are none that the log's key has signed, or those of another version: whoever
    /// can write to the bucket can put anything there, such as what was put down before.
    static func pins(_ bytes: [UInt8], _ version: UInt64, signedByOneOf logs: [VerifierKey]) -> DirectoryPins? {
        guard let pins = try? DirectoryPins(bytes, signedByOneOf: logs), pins.version == version else { return nil }
        return pins
    }
}
