// SPDX-License-Identifier: Apache-2.0

import Crypto
import DurableStorage
import KeyTransparency
import LogEngine
import SignetTesting
import Testing
import TransparencyLog
import VRF

@testable import KeyDirectory

/// A log of accounts on a disk in memory, sealed as a directory's is, without a database and without keys of people.
final class PaperLog: Sendable {
    /// A log that is open, and what seals it.
    struct Opened: Sendable {
        let log: DurableLog
        let epochs: EpochSealer
        let snapshots: IndexSnapshotWriter

        func close() async {
            await snapshots.finish()
            await log.close()
        }
    }

    static let path = "index.snapshot"
    let disk: SimulatedDisk
    let keys: DirectoryKeys
    let clock: StandingClock

    init(on disk: SimulatedDisk = SimulatedDisk(), seed: UInt8 = 1, clock: StandingClock = StandingClock()) throws {
        self.disk = disk
        self.clock = clock
        keys = try Place.keys(seed: seed)
    }

    /// The same log as it is now, on a disk of its own.
    func copy() throws -> PaperLog { try PaperLog(on: disk.copy(), clock: clock) }

    var snapshot: [UInt8]? {
        get { disk[Self.path] }
        set { disk[Self.path] = newValue }
    }

    func create() async throws { try await DurableLog.create(in: disk, configuration) }

    private var configuration: LogConfiguration {
        let clock = clock
        return LogConfiguration(signer: keys.log, cosigners: keys.cosigners, clock: { clock.now })
    }

    /// Opens the log as a directory does.
    func open(
        over files: (any LogFileSystem)? = nil, writing policy: IndexSnapshotPolicy = .always,
        reserve: DiskReserve = DiskReserve(use: { .none })
    ) async throws -> Opened {
        let (files, clock) = (files ?? disk, clock)
        let epochs = EpochSealer(snapshot: try? IndexSnapshot(in: files), clock: { clock.now })
        let snapshots = IndexSnapshotWriter(
            files: files, epochs: epochs, policy: policy, reserve: reserve, logger: Place.silent)
        var configuration = configuration
        configuration.sealing = epochs
        configuration.onPublished = {
            epochs.published(size: $0.head.size)
            snapshots.published(size: $0.head.size)
        }
        let log = try await DurableLog.open(in: files, configuration)
        return Opened(log: log, epochs: epochs, snapshots: snapshots)
    }

    /// What a start makes of the log without a snapshot.
    func replayed() async throws -> EpochSealer {
        let copy = try copy()
        copy.disk[Self.path] = nil
        return try await copy.epochs()
    }

    /// What a start makes of the log, which is not written to.
    func epochs() async throws -> EpochSealer {
        let opened = try await open(writing: .never)
        await opened.close()
        return opened.epochs
    }

    /// Demands that the snapshot, whatever it says, changes nothing of what a start makes of the log.
    ///
    /// - Returns: why it was not used.
    @discardableResult
    func expectSameState(
        as replayed: EpochSealer, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> IndexSnapshot.Fault? {
        let epochs = try await epochs()
        #expect(epochs.holdsSame(as: replayed), comment, sourceLocation: sourceLocation)
        if let fault = epochs.refusedSnapshot { return fault }
        if epochs.usedSnapshot != nil { return nil }
        do throws(IndexSnapshot.Fault) { _ = try IndexSnapshot(in: disk) } catch { return error }
        Issue.record("the snapshot was neither used nor refused")
        return nil
    }
}

extension IndexSnapshotPolicy {
    /// No snapshot is written.
    static var never: Self {
        var policy = Self()
        policy.epochs = .max >> 1
        return policy
    }
}

/// Accounts that come, change and go at random.
struct PaperAccounts {
    private struct Account {
        let label: VRFHash
        var version: UInt64
        var isClosed = false
    }

    private var accounts: [Account] = []
    private var succession: UInt64 = 0
    private var random: Chance

    private let changesKeys: Bool

    /// - Parameter changesKeys: false in a log that has had such a change already.
    init(seed: UInt64, changesKeys: Bool = true) {
        random = Chance(state: seed)
        self.changesKeys = changesKeys
    }

    /// The next group for the log: mostly a step of an account, now and then a change of the log's keys.
    mutating func step(_ keys: DirectoryKeys) throws -> [[UInt8]] {
        let open = accounts.indices.filter { !accounts[$0].isClosed }
        switch random.below(12) {
        case 0 where changesKeys:
            succession += 1
            let policy = try Policy(
                logs: [Policy.Log(key: keys.log.verifierKey)], witnesses: [], groups: [], quorum: .none)
            return [
                SuccessionRecord(kind: .keys, number: succession, vrfKey: keys.vrf.publicKey, policy: policy).entry
            ]
        case 1...4 where !open.isEmpty: return try change(open[random.below(open.count)])
        default: return try arrival()
        }
    }

    private mutating func arrival() throws -> [[UInt8]] {
        let label = try #require(VRFHash((0..<64).map { _ in UInt8(random.below(256)) }))
        accounts.append(Account(label: label, version: 0))
        return try change(accounts.count - 1)
    }

    /// Leaves of devices, among them one twice, and a state.
    private mutating func change(_ place: Int) throws -> [[UInt8]] {
        accounts[place].version += 1
        let account = accounts[place]
        let label = LabelIndex(account.label)
        if account.version > 1, random.below(5) == 0 {
            accounts[place].isClosed = true
            return [StateRecord(closing: label, version: account.version).entry]
        }
        let leaves = try (0..<random.below(3)).map { _ in
            let key = [UInt8](repeating: UInt8(random.below(3)), count: 32)
            return try #require(DeviceLeaf(label: account.label, publicKey: key)).entry
        }
        let commitment = try #require(StateCommitment((0..<32).map { _ in UInt8(random.below(256)) }))
        let kind: StateKind = random.below(4) == 0 ? .reset : .set
        return leaves + [
            StateRecord(label: label, version: account.version, kind: kind, commitment: commitment).entry
        ]
    }
}

/// Numbers that are the same in every run.
struct Chance {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ value >> 31) % UInt64(bound))
    }
}
