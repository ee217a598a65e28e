import Crypto
import KeyTransparency
import Logging
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
    /// The log's name, which signed requests cover.
    public let origin: [UInt8]

    let vrf: VRFPrivateKey
    let epochs: EpochSealer
    let paths: DirectoryPaths
    let database: DirectoryDatabase
    let clock: @Sendable () -> UInt64
    let logger: Logger
    /// Seals possession challenges; new with every start, so that it is stored nowhere.
    let sealingKey = SymmetricKey(size: .bits256)
    let nonces: NonceWindow
    let turns = AccountTurns()
    let cache = AccountCache()
    let proofs = ProofCache()

    init(
        log: DurableLog, epochs: EpochSealer, keys: DirectoryKeys, database: DirectoryDatabase,
        paths: DirectoryPaths, clock: @escaping @Sendable () -> UInt64, logger: Logger, nonceCapacity: Int = 1 << 20
    ) {
        self.log = log
        self.epochs = epochs
        self.paths = paths
        self.database = database
        self.clock = clock
        self.logger = logger
        origin = keys.log.verifierKey.name.bytes
        vrf = keys.vrf
        nonces = NonceWindow(capacity: nonceCapacity, at: clock())
    }

    /// Signs the checkpoint anew with the time of now, and begins each day with an epoch, even if nothing has happened:
    /// owners check their labels at the first epoch of every day. A log that has handed over stays as it is.
    ///
    /// - Throws: ``LogWaitError``.
    public func republish() async throws(LogWaitError) {
        let newest = epochs.milestone(size: log.published.head.size)
        if let newest, newest.record.day < clock() / 86_400, !epochs.hasEnded {
            do throws(LogAppendError) { try log.seal() } catch { throw error == .closed ? .closed : .stopped }
        }
        try await log.republish()
    }

    /// Publishes what was accepted and lets go of the files. Stop asking before.
    public func close() async {
        await log.close()
        database.close()
    }
}
