// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
public import LogEngine
import Logging
import SQLStores
import SignetAPI
import TransparencyLog
import VRF

/// The accounts of a server and the log that vouches for them.
///
/// Every change is one statement: a signed request with the next state of an account. It is checked, written to the
/// database in one transaction that waits for the disk, appended to the log in one group, and acknowledged when a
/// published checkpoint covers it. A crash between any two of these steps loses nothing that was acknowledged:
/// ``open(at:keys:clock:logger:onFatal:)`` takes up what was written and not yet logged.
///
/// The database holds no secret key and no position in the log; where a record stands is found by its leaf hash.
public final class Directory: Sendable {
    /// The log: tiles and checkpoint for the static read path, `republish()` for a fresh time.
    public let log: DurableLog
    /// A quarter of an hour: four epochs before a client refuses the log as frozen.
    public static let standardHeartbeat: UInt64 = 900
    /// The log's name, which signed requests cover.
    public let origin: [UInt8]

    let vrf: VRFPrivateKey
    let epochs: EpochSealer
    /// Nil in a process that keeps nothing on a disk of its own.
    let snapshots: IndexSnapshotWriter?
    let paths: DirectoryPaths
    /// Nil where others write the log.
    let places: RecordPlaces?
    let database: DirectoryDatabase
    /// Where the log is followed, which ends with the directory; nil where whoever opened it sees to that.
    private let followed: (any SQLDatabase)?
    let clock: @Sendable () -> UInt64
    /// After this long without an epoch, one ends even if it has no changes, in seconds.
    public let heartbeat: UInt64
    let logger: Logger
    /// Seals possession challenges; from the secret that front ends share, or new with every start, so that it is stored nowhere.
    let sealing: SealingKeys
    /// How this server is one of several; nil: it is the only one.
    let frontEnd: FrontEnd?
    let nonces: NonceWindow
    let room: StateRoom
    let turns = AccountTurns()
    let cache = AccountCache()
    let proofs = ProofCache()
    let epochPath = EpochPath()
    let unseen = UnseenEntries()

    init(
        log: DurableLog, epochs: EpochSealer, snapshots: IndexSnapshotWriter?, origin: KeyName, vrf: VRFPrivateKey,
        database: DirectoryDatabase,
        paths: DirectoryPaths, places: RecordPlaces? = nil, clock: @escaping @Sendable () -> UInt64, logger: Logger,
        heartbeat: UInt64 = Directory.standardHeartbeat,
        nonceCapacity: Int = 1 << 20, room: StateRoom = StateRoom(), frontEnd: FrontEnd? = nil,
        secret: FrontEndSecret = FrontEndSecret(), following followed: (any SQLDatabase)? = nil
    ) {
        self.log = log
        self.epochs = epochs
        self.snapshots = snapshots
        self.paths = paths
        self.places = places
        self.database = database
        self.followed = followed
        self.clock = clock
        self.logger = logger
        self.heartbeat = heartbeat
        self.frontEnd = frontEnd
        sealing = secret.keys(for: .possession)
        self.origin = origin.bytes
        self.vrf = vrf
        nonces = NonceWindow(capacity: nonceCapacity, at: clock())
        self.room = room
    }

    /// Signs the checkpoint again with the current time, and ends an epoch if the last one ended ``heartbeat`` ago,
    /// even if nothing has happened: clients refuse a log whose last epoch is an hour old (`EpochTimeRule`), and owners
    /// check their labels at the first epoch of every day. A log that has handed over stays as it is, and one that another process
    /// writes is left to that.
    ///
    /// - Throws: ``LogWaitError``.
    public func republish() async throws(LogWaitError) {
        guard writesLog else { return await keepUnseen() }
        let size = log.published.head.size
        let hasBeaten: Bool
        do throws(LogAppendError) { hasBeaten = try beat() } catch { throw error == .closed ? .closed : .stopped }
        // Not the old tree once more, which no client would believe if the pause was long.
        if hasBeaten { _ = try await log.awaitPublished(size: size + 1) } else { try await log.republish() }
        await keepUnseen()
        await Reconciliation(log: log, epochs: epochs, database: database, awaitsPublication: false).goOn()
    }

    /// Ends an epoch if one is due.
    ///
    /// - Returns: whether one was; it is published a little later.
    func beat() throws(LogAppendError) -> Bool {
        // By the clock that dates it: by another one, the next epoch would be due as soon as this one has ended.
        let now = epochs.clock()
        guard let last = epochs.lastRecord, !epochs.hasEnded else { return false }
        guard last.day < now / 86_400 || last.time / 1000 + heartbeat <= now else { return false }
        // Clients would know an epoch that is gone with the process.
        do { try log.seal() } catch .displaced { return false }
        return true
    }

    /// Ends an epoch even if nothing has happened since the last one, and waits until it is published.
    ///
    /// - Throws: ``LogWaitError``.
    package func endEpoch() async throws(LogWaitError) {
        let size = log.published.head.size
        do throws(LogAppendError) { try log.seal() } catch { throw error == .closed ? .closed : .stopped }
        _ = try await log.awaitPublished(size: size + 1)
    }

    /// Whether this process writes the log. Otherwise what it accepts waits in the database for the one that does.
    public var writesLog: Bool { log.isWritable }

    /// When the log's last epoch ended, in seconds since 1970; nil if it has none.
    package var lastEpochTime: UInt64? { epochs.lastTime }

    /// Files of the log, and the database of accounts, that somebody removed or replaced under this process, as paths in the folder of the
    /// records.
    package var displaced: DisplacedFiles { places?.displaced ?? DisplacedFiles() }

    /// How many entries of the log were covered by the snapshot of the index that the start used; nil if it used none.
    package var snapshotSize: UInt64? { epochs.usedSnapshot }

    /// Publishes what was accepted and lets go of the files. Stop asking before.
    public func close() async {
        await snapshots?.finish()
        await log.close()
        database.close()
        followed?.close()
    }
}
