// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// The files of a log that is on this machine alone.
final class FileStores: LogStores {
    private let wal: Mutex<WriteAheadLog>
    private let lockRecord: Mutex<LockRecordFile>
    private let published: PublishedFile
    private let tiles: TileFiles
    private let hold: DirectoryHold
    private let places: LogPlaces

    init(_ fileSystem: any LogFileSystem, hold: DirectoryHold, wal: WriteAheadLog, lockRecord: LockRecordFile) {
        places = LogPlaces(fileSystem, wal, lockRecord)
        self.wal = Mutex(wal)
        self.lockRecord = Mutex(lockRecord)
        published = PublishedFile(fileSystem: fileSystem)
        tiles = TileFiles(fileSystem: fileSystem)
        self.hold = hold
    }

    func commit(_ groups: [HashedEntries]) throws(LogFailure) -> UInt64 {
        do throws(LogFileError) {
            return try wal.withLock { (wal) throws(LogFileError) in
                let first = wal.nextIndex
                try wal.append(groups) { places.areKept }
                places.note(wal)
                return first
            }
        } catch {
            throw .writeAheadLog(error)
        }
    }

    func nextSize(isWanted: Bool) -> UInt64? { nil }

    /// They are served from memory meanwhile, and made again when the log is opened.
    var placesBeforeSigning: Bool { false }

    func write(_ tile: Tile, _ bytes: [UInt8]) throws(LogFailure) {
        do throws(LogFileError) { try tiles.write(tile, bytes) } catch { throw .tiles(error) }
    }

    func bundle(_ tile: Tile) throws(DurableLogReadError) -> [UInt8] {
        do throws(LogFileError) { return try tiles.read(tile) } catch { throw .file(error) }
    }

    func finishPlacing(_ head: TreeHead, bundle: [UInt8]) {}

    func remember(_ checkpoint: PublishedCheckpoint, root: (UInt64) -> TreeHash?) throws(LogFailure) {
        do throws(LockRecordError) {
            try lockRecord.withLock { (lockRecord) throws(LockRecordError) in
                let recorded = lockRecord.current.head
                guard let ancestor = root(recorded.size) else {
                    throw .shrinks(from: recorded.size, to: checkpoint.head.size)
                }
                try lockRecord.swap(to: checkpoint.head, note: checkpoint.bytes, ancestor: ancestor)
            }
        } catch {
            throw .lockRecord(error)
        }
    }

    /// A log that needs no witnesses shows what is in the lock record.
    func publish(_ checkpoint: PublishedCheckpoint, isWitnessed: Bool) throws(LogFailure) {
        guard isWitnessed else { return }
        do throws(LogFileError) { try published.write(checkpoint) } catch { throw .publishedFile(error) }
    }

    func release() { hold.release() }

    var areKept: Bool { places.areKept }

    var displaced: DisplacedFiles { places.displaced }
}
