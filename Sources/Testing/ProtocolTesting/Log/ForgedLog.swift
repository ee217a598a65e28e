// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import TransparencyLog
import VRF

/// A log whose owner holds its key and may break any rule, and sign what comes out properly.
public final class ForgedLog {
    /// The log's key.
    public let signer: NoteSigner
    /// Who cosigns.
    public let witnesses: [NoteSigner]
    /// The raw entries.
    public private(set) var entries: [[UInt8]] = []
    /// The tree over them.
    public private(set) var tree = MerkleTree()
    private var histories = LabelHistories()
    private var index = EpochIndex()
    private var versions: [UInt64: UInt64] = [:]
    /// When the first epoch without an explicit date ends, less a second; in seconds since 1970.
    public static let now: UInt64 = 1_800_000_000
    private var time: UInt64

    /// A log without entries.
    ///
    /// - Parameter start: one second before its first epoch ends, in seconds since 1970.
    /// - Throws: ``TransparencyLog/NoteError``, ``TransparencyLog/NoteSignerError``.
    public init(
        origin: String = "directory.example/log", seed: UInt8 = 1, witnessCount: UInt8 = 1, from start: UInt64 = now
    ) throws {
        time = start * 1000
        signer = try Self.signer(origin, .ed25519, seed: seed)
        witnesses = try (0..<witnessCount).map {
            try Self.signer("witness.example/\($0)", .cosignatureV1, seed: 100 + $0)
        }
    }

    /// A key that is the same in every run.
    public static func signer(
        _ name: String, _ algorithm: VerifierKey.Algorithm, seed: UInt8
    ) throws -> NoteSigner {
        try NoteSigner(
            name: KeyName(Array(name.utf8)), algorithm: algorithm, seed: Array(repeating: seed, count: 32))
    }

    /// The log's key and its witnesses, any one of which suffices; without witnesses, none is needed.
    public func policy() throws -> Policy {
        let members = witnesses.enumerated().compactMap { number, witness in
            Policy.Name(Array("w\(number)".utf8)).map { Policy.Witness(name: $0, key: witness.verifierKey) }
        }
        guard let name = Policy.Name(Array("any".utf8)), !members.isEmpty else {
            return try Policy(logs: [.init(key: signer.verifierKey)], quorum: .none)
        }
        let group = Policy.Group(name: name, threshold: 1, members: members.map(\.name))
        return try Policy(
            logs: [.init(key: signer.verifierKey)], witnesses: members, groups: [group], quorum: .member(name))
    }

    // MARK: What an honest log does

    /// How many entries there are.
    public var size: UInt64 { tree.size }

    /// A person's next version, with a device key before it.
    public func step(_ person: UInt64) throws {
        try add(device(of: person))
        try add(nextState(of: person).entry)
    }

    /// Ends a person's account.
    public func close(_ person: UInt64) throws {
        let last = try nextState(of: person)
        try add(StateRecord(closing: last.label, version: last.version).entry)
    }

    /// Lets seconds pass before the next epoch ends.
    public func letTimePass(_ seconds: UInt64) { time += seconds * 1000 }

    /// Ends the epoch, one second after the one before.
    ///
    /// - Parameter edit: what the record says instead of the truth.
    public func closeEpoch(edit: (EpochRecord) -> EpochRecord = { $0 }) throws {
        time += 1000
        let record = try index.close(try histories.settle(), at: time, index: size)
        try histories.add(.epoch(record), leaf: .leaf(record.entry))
        append(edit(record).entry)
    }

    /// A number of epochs, each with a number of new people.
    public func grow(epochs: Int, people: Int, from first: UInt64 = 0) throws {
        for epoch in 0..<epochs {
            for person in 0..<people { try step(first + UInt64(epoch * people + person)) }
            try closeEpoch()
        }
    }

    // MARK: What a lying one does

    /// Appends anything, and keeps no account of it.
    public func append(_ entry: [UInt8]) {
        entries.append(entry)
        tree.append(.leaf(entry))
    }

    /// Appends an entry and keeps account of it, as an honest log does.
    public func add(_ entry: [UInt8]) throws {
        try histories.add(LogEntry(decoding: entry), leaf: .leaf(entry))
        append(entry)
    }

    /// The leaf of a person's next device.
    public func device(of person: UInt64) -> [UInt8] {
        let key = [UInt8](repeating: UInt8(truncatingIfNeeded: person &+ size), count: 32)
        return Self.hash(of: person).flatMap { DeviceLeaf(label: $0, publicKey: key) }?.entry ?? []
    }

    /// A person's next state record; every call counts one version on.
    public func nextState(of person: UInt64) throws -> StateRecord {
        versions[person, default: 0] += 1
        return try state(of: person, version: versions[person, default: 0])
    }

    /// A state record of any version.
    public func state(of person: UInt64, version: UInt64) throws -> StateRecord {
        guard let hash = Self.hash(of: person) else { throw LogEntryError.invalidField }
        return StateRecord(label: LabelIndex(hash), version: version, kind: .set, commitment: .toNothing)
    }

    /// A record of a change of keys, which changes nothing.
    public func succession(_ kind: SuccessionRecord.Kind, number: UInt64) throws -> SuccessionRecord {
        // The generator of the group: a key that is the same in every run.
        let key: [UInt8] = [
            0xE2, 0xF2, 0xAE, 0x0A, 0x6A, 0xBC, 0x4E, 0x71, 0xA8, 0x84, 0xA9, 0x61, 0xC5, 0x00, 0x51, 0x5F, 0x58, 0xE3,
            0x0B, 0x6A, 0xA5, 0x82, 0xDD, 0x8D, 0xB6, 0xA6, 0x59, 0x45, 0xE0, 0x8D, 0x2D, 0x76,
        ]
        return SuccessionRecord(kind: kind, number: number, vrfKey: try VRFPublicKey(key), policy: try policy())
    }

    private static func hash(of person: UInt64) -> VRFHash? {
        VRFHash((0..<64).map { UInt8(truncatingIfNeeded: person >> (8 * ($0 % 8))) ^ UInt8($0) })
    }

    // MARK: What it signs

    /// A checkpoint of the first `size` entries, cosigned by all witnesses.
    public func checkpoint(size: UInt64? = nil, time: UInt64 = 1_800_000_000) throws -> SignedNote {
        try sign(tree.head(size: size ?? tree.size), time: time)
    }

    /// Any tree head, signed and cosigned.
    public func sign(_ head: TreeHead, time: UInt64 = 1_800_000_000) throws -> SignedNote {
        let text = try Checkpoint(origin: signer.verifierKey.name, head: head).text
        let cosignatures = try witnesses.map { try $0.cosign(text, time: time) }
        return try SignedNote(text: text, signatures: [signer.sign(text)] + cosignatures)
    }

    /// What an auditor who reads all of it finds.
    public func finding() throws -> AuditFinding {
        var audit = CheckpointAudit()
        for entry in entries { audit.add(entry) }
        return audit.finding(at: try tree.head(size: size))
    }
}
