// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
package import TransparencyLog
package import VRF
package import VerifiableMap

/// A directory on paper: the honest construction of its log, its index and every part of an answer, in memory, with all
/// keys at hand, so that a test can make exactly one part wrong and sign everything else properly.
package struct PaperDirectory: Sendable {
    /// The name of its log.
    package static let origin = "directory.example/log"
    /// The moment at which everything is signed, in seconds since 1970.
    package static let now: UInt64 = 1_800_000_000

    /// The log's key.
    package var log: NoteSigner
    /// Both must have cosigned.
    package var witnesses: [NoteSigner]
    /// The key under which handles become labels.
    package var vrf: VRFPrivateKey
    /// The log as a tree.
    package private(set) var tree = MerkleTree()
    /// Every log entry, in order.
    package private(set) var entries: [[UInt8]] = []
    /// Every label's entries. Has only what was logged by the rules.
    package private(set) var histories = LabelHistories()
    /// The epochs as they should be.
    package private(set) var epochs = EpochChain()
    /// What the index of the last epoch holds.
    package private(set) var index: [MapKey: MapValue] = [:]
    /// The last epoch's record, as it was logged.
    package private(set) var lastRecord: EpochRecord?

    /// A directory with this many people who do not matter, whose first epoch ended at `start`, in seconds since 1970.
    ///
    /// - Parameter end: the last checkpoint of the log that this one goes on from; nil: of none.
    package init(filler: Int = 12, from start: UInt64 = now, after end: SignedNote? = nil) throws {
        log = try Self.signer(Self.origin, .ed25519, seed: 1)
        witnesses = try [
            Self.signer("witness.example/one", .cosignatureV1, seed: 2),
            Self.signer("witness.example/two", .cosignatureV1, seed: 3),
        ]
        vrf = try VRFPrivateKey([7] + [UInt8](repeating: 0, count: 31))
        if let end { try log(PredecessorRecord(note: end).entry) }
        for number in 0..<filler { try logStranger(UInt8(truncatingIfNeeded: number)) }
        try endEpoch(at: start * 1000)
    }

    /// A key named `name`.
    package static func signer(
        _ name: String, _ algorithm: VerifierKey.Algorithm, seed: UInt8
    ) throws -> NoteSigner {
        try NoteSigner(
            name: KeyName(Array(name.utf8)), algorithm: algorithm, seed: Array(repeating: seed, count: 32))
    }

    /// The hidden label of a handle.
    package func label(_ handle: Handle) throws -> (hash: VRFHash, proof: VRFProof) {
        try vrf.prove(handle.vrfInput)
    }

    /// The position of a handle in the index.
    package func key(_ handle: Handle) throws -> MapKey { LabelIndex(try label(handle).hash).key }
}

// MARK: Logging

extension PaperDirectory {
    /// Logs an entry by the rules.
    ///
    /// - Throws: `LogEntryError`, `IndexFault`.
    package mutating func log(_ entry: [UInt8]) throws {
        try histories.add(LogEntry(decoding: entry), leaf: .leaf(entry))
        logUnseen(entry)
    }

    /// Logs anything, as if it were not there for the index.
    package mutating func logUnseen(_ entry: [UInt8]) {
        tree.append(.leaf(entry))
        entries.append(entry)
    }

    /// Logs a person's device leaves that are not logged yet, then the state record, as a rule under their own handle.
    package mutating func log(_ person: PaperPerson, under handle: Handle? = nil) throws {
        let label = try label(handle ?? person.handle).hash
        let known = Set(entries)
        for entry in person.leaves(label) where !known.contains(entry) { try log(entry) }
        try log(person.record(label).entry)
    }

    /// The same, in an epoch of its own.
    package mutating func publish(_ person: PaperPerson, under handle: Handle? = nil) throws {
        try log(person, under: handle)
        try endEpoch()
    }

    /// Ends the epoch. The index and the record can be made to lie; the chain of epochs follows the lies.
    ///
    /// - Parameters:
    ///   - time: in milliseconds since 1970.
    ///   - lieInIndex: changes what the index holds, before its root is taken.
    ///   - lieInRecord: changes the record.
    package mutating func endEpoch(
        at time: UInt64 = now * 1000, lieInIndex: (inout [MapKey: MapValue]) -> Void = { _ in },
        lieInRecord: (EpochRecord) -> EpochRecord = { $0 }
    ) throws {
        for change in try histories.settle() { index[change.key] = change.value }
        lieInIndex(&index)
        let root = try map().root
        let (place, count) = (tree.size, UInt64(index.count))
        let record = epochs.next(at: time, index: place, labelCount: count, root: root)
        try epochs.append(record, at: place, labelCount: count, root: root)
        let logged = lieInRecord(record)
        lastRecord = logged
        try log(logged.entry)
    }

    /// The index as it is now.
    package func map() throws -> MapVersion {
        var trie = MapTrie()
        try trie.update(index.map { MapEntry(key: $0, value: $1) })
        return trie.current
    }

    private mutating func logStranger(_ number: UInt8) throws {
        guard let label = VRFHash([UInt8](repeating: number, count: 64)),
            let leaf = DeviceLeaf(label: label, publicKey: [UInt8](repeating: number, count: 32)),
            let commitment = StateCommitment([UInt8](repeating: number, count: 32))
        else { throw PaperFault.notThere }
        try log(leaf.entry)
        try log(StateRecord(label: LabelIndex(label), version: 1, kind: .set, commitment: commitment).entry)
    }
}

// MARK: Places

extension PaperDirectory {
    /// The epoch record that stands at a place.
    package func epoch(at place: UInt64) throws -> PlacedEpoch {
        guard place < entries.count, case .epoch(let record) = try LogEntry(decoding: entries[Int(place)]) else {
            throw PaperFault.notThere
        }
        let path = try tree.inclusionProof(index: place, size: tree.size).hashes
        return PlacedEpoch(index: place, record: record, path: path)
    }

    /// In which epoch the entry at a place was logged. The quorum saw the log right before the epoch and with it when it ended, or at
    /// other times that are given, in seconds since 1970.
    package func step(
        _ count: UInt64, at place: UInt64, absentAt: UInt64? = nil, seenAt: UInt64? = nil
    ) throws -> LoggedStep {
        let end = try entries.indices.dropFirst(Int(place)).first {
            if case .epoch = try LogEntry(decoding: entries[$0]) { true } else { false }
        }
        guard let end else { throw PaperFault.notThere }
        let epoch = try epoch(at: UInt64(end))
        let (start, time) = (epoch.record.start, epoch.record.time / 1000)
        return LoggedStep(
            count: count, inclusion: try tree.inclusionProof(index: place, size: tree.size), epoch: epoch,
            absent: start == 0 ? nil : try seen(size: start, at: absentAt ?? time),
            seen: try seen(size: UInt64(end) + 1, at: seenAt ?? time))
    }

    /// What shows that the quorum saw the log at this size.
    package func seen(size: UInt64, at time: UInt64, cosigners: [NoteSigner]? = nil) throws -> SeenCheckpoint {
        SeenCheckpoint(
            note: try note(size: size, at: time, cosigners: cosigners).encoded,
            consistency: try tree.consistencyProof(from: size, to: tree.size))
    }
}

/// What a directory on paper was asked for and does not have.
package enum PaperFault: Error {
    /// No such entry was logged, or no epoch ended.
    case notThere
}
