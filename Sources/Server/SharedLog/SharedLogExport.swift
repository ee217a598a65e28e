// SPDX-License-Identifier: Apache-2.0

package import LogEngine
package import ObjectStores
package import SQLStores
package import TransparencyLog

/// A log that was claimed by a process that takes it away.
package struct ClaimedLog: Sendable {
    /// Of the claim: whoever led before writes no more.
    package let generation: UInt64
    /// What the database holds.
    package let head: TreeHead
    /// What was signed last, by the second memory. The head extends it.
    package let signed: SignedHead
    /// What was shown last.
    package let published: PublishedCheckpoint
    /// The version of the second memory that says so.
    package let memory: ObjectTag
    let lease: LeaseKeeper

    /// Lets the next one have the lease.
    package func giveBack() async { await lease.end() }
}

/// What stands in the second memory of a log that went back to the files of one machine: a line that no checkpoint begins with, and what was
/// signed last here. A database that is restored from a time before cannot be led with it.
package enum BurntMemory {
    private static let mark = Array("moved\n".utf8)

    /// The bytes of the memory.
    static func bytes(_ note: [UInt8]) -> [UInt8] { mark + note }

    /// What was signed last; nil if the memory is not burnt.
    static func note(of bytes: [UInt8]) -> [UInt8]? {
        bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : nil
    }
}

// A log that several machines shared, on its way to one.
extension SharedLogEngines {
    /// Copies a claimed log to files of one machine, and checks the root of its frames while it does.
    ///
    /// - Parameter directory: an empty folder.
    /// - Throws: ``SharedLogOpenError``: what was copied until then is not a log.
    package func copy(_ claimed: ClaimedLog, toFilesIn directory: String) async throws(SharedLogOpenError) {
        let replay = FrameReplay(sealing: nil, shown: 0, placed: claimed.head.size)
        let writer: LogFilesWriter
        do throws(LogOpenError) { writer = try LogFilesWriter(in: directory) } catch { throw .log(error) }
        while replay.size < claimed.head.size {
            let frames: [Frame]
            do throws(SharedLogFault) {
                frames = try await self.frames(from: replay.size, to: claimed.head.size)
            } catch { throw .fault(error) }
            do throws(LogOpenError) {
                for frame in frames {
                    try replay.take(frame)
                    try writer.append(frame)
                }
            } catch { throw .log(error) }
        }
        guard replay.size == claimed.head.size, replay.root(size: replay.size) == claimed.head.root else {
            throw .fault(.rootDiffers(size: claimed.head.size))
        }
        do throws(LogOpenError) {
            try writer.finish(signed: claimed.signed, published: claimed.published)
        } catch { throw .log(error) }
    }

    /// Which copy the log went on in when it was taken away; nil if it is here, or never was.
    ///
    /// - Throws: ``SharedLogFault``.
    package func movedTo() async throws(SharedLogFault) -> [UInt8]? {
        let origin = origin.bytes
        return try await asking {
            try await database.read { transaction in
                guard try transaction.row("SELECT 1 FROM log WHERE id = 1") == nil else { return nil }
                guard let row = try transaction.row("SELECT copy, origin FROM moved WHERE id = 1") else { return nil }
                guard try row.bytes(1) == origin else { throw SharedLogFault.otherLog(origin: try row.bytes(1)) }
                return try row.bytes(0)
            }
        }
    }

    /// Burns the second memory, so that nobody leads a database that is restored from a time before the log went away. It can be repeated.
    ///
    /// Who led last may have put down a head since the log was claimed; it is one that was committed before.
    ///
    /// - Parameter replay: the frames of the copy that goes on.
    /// - Throws: ``SharedLogFault``; ``SharedLogFault/rootDiffers(size:)``: something was signed that this log does not hold.
    package func burnMemory(_ replay: FrameReplay) async throws(SharedLogFault) {
        while true {
            let object: StoredObject?
            do throws(ObjectFault) { object = try await objects.get(Self.signedPath) } catch {
                throw .unavailable("objects: \(error)")
            }
            guard let object else { throw .checkpointInvalid }
            if BurntMemory.note(of: object.bytes) != nil { return }
            guard let signed = logSigned(object.bytes) else { throw .checkpointInvalid }
            guard replay.root(size: signed.head.size) == signed.head.root else {
                throw .rootDiffers(size: signed.head.size)
            }
            do throws(ObjectFault) {
                let burnt = BurntMemory.bytes(object.bytes)
                if case .swapped = try await objects.swap(burnt, at: Self.signedPath, after: object.tag) { return }
            } catch { throw .unavailable("objects: \(error)") }
        }
    }
}

extension SQLTransaction {
    /// Takes a claimed log out of the database, if nobody has claimed it since: no process leads it here any more.
    ///
    /// - Parameter copy: 32 bytes that name the copy that goes on.
    /// - Returns: whether it was still ours.
    package func takeAway(_ claimed: ClaimedLog, _ origin: KeyName, copy: [UInt8]) throws -> Bool {
        let (generation, size) = (Int64(clamping: claimed.generation), Int64(clamping: claimed.head.size))
        let count = try run(
            "DELETE FROM log WHERE id = 1 AND generation = ? AND size = ?", [generation, size])
        guard count == 1 else { return false }
        try run("DELETE FROM moved")
        try run(
            "INSERT INTO moved (id, origin, generation, size, root, copy) VALUES (1, ?, ?, ?, ?, ?)",
            [origin.bytes, generation, size, claimed.head.root.bytes, copy])
        return true
    }
}
