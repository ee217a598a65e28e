// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import TransparencyLog
import VRF

// What the explorer asks of the module besides lookups: the trust in a directory, what to send, and the log itself. It fetches
// tiles and puts proofs together; whether they hold is decided here.

/// A directory file, without what it says of TLS: a page does not choose its own connection. Input: the file. Result: 1 with its
/// address, VRF key, u64 maximum age, u64 clock skew, its policy, its log's origin, u32 number of witnesses, for each its name and u8 whether this
/// module verifies its kind of key; 0: not a directory file.
@_cdecl("signet_directory") public func signetDirectory() -> Int32 {
    output = []
    var fields = Fields()
    guard let file = try? fields.bytes(), let (url, trust) = readDirectory(file) else { return 0 }
    var writer = ByteWriter()
    write(url, to: &writer)
    write(trust.vrfKey.bytes, to: &writer)
    writer.write(trust.freshness.maximumAge)
    writer.write(trust.freshness.clockSkew)
    write(trust.policy.encoded, to: &writer)
    write(trust.policy.logs.first?.name.bytes ?? [], to: &writer)
    let verifiable = trust.policy.verifiableWitnesses
    writer.write(UInt32(truncatingIfNeeded: trust.policy.witnesses.count))
    for witness in trust.policy.witnesses {
        write(witness.name.bytes, to: &writer)
        writer.write(UInt8(verifiable.contains(witness) ? 1 : 0))
    }
    output = writer.bytes
    return 1
}

private func readDirectory(_ file: [UInt8]) -> ([UInt8], DirectoryTrust)? {
    guard file.starts(with: DirectoryTrust.fileFormat) else { return nil }
    var reader = ByteReader(file.dropFirst(DirectoryTrust.fileFormat.count))
    guard let url = reader.line(named: "url") else { return nil }
    while reader.hasLine(beginning: "tls-") {
        guard (try? reader.line(maximumLength: 16_384)) != nil else { return nil }
    }
    guard let trust = try? DirectoryTrust(from: &reader) else { return nil }
    return (Array(url), trust)
}

/// What to send for a lookup. Input: the handle as it was typed; u64 known size, u64 known count. Result: 1 with the handle in its
/// one spelling and the request; 0: not a handle.
@_cdecl("signet_request") public func signetRequest() -> Int32 {
    output = []
    var fields = Fields()
    do throws(CanonicalCodingError) {
        let typed = try fields.bytes()
        let (size, count) = (try fields.reader.uint64(), try fields.reader.uint64())
        guard let handle = try? Handle(typed: typed) else { return 0 }
        var writer = ByteWriter()
        write(handle.bytes, to: &writer)
        write(LookupRequest(handle: handle, knownSize: size, knownCount: count).encoded, to: &writer)
        output = writer.bytes
        return 1
    } catch { return 0 }
}

/// A checkpoint by itself. Input: policy, note, u64 now, u64 maximum age, u64 clock skew. Result: 0 with the origin, u64 size, root,
/// u64 time of the quorum, u32 number of witnesses that signed, for each its name, u64 time and u8 whether it counts and is not the log's own; else the step that refused, as
/// for tlog-proof, or 9: not fresh.
@_cdecl("signet_checkpoint") public func signetCheckpoint() -> Int32 {
    output = []
    var fields = Fields()
    let policyText, noteText: [UInt8]
    let now, age, skew: UInt64
    do throws(CanonicalCodingError) {
        policyText = try fields.bytes()
        noteText = try fields.bytes()
        now = try fields.reader.uint64()
        age = try fields.reader.uint64()
        skew = try fields.reader.uint64()
        try fields.reader.end()
    } catch { return 1 }
    guard let policy = try? Policy(decoding: policyText) else { return 2 }
    guard let note = try? SignedNote(decoding: noteText) else { return 3 }
    let verified: VerifiedCheckpoint
    do throws(CheckpointVerificationError) { verified = try policy.verify(note) } catch { return error.step }
    let rule = FreshnessRule(maximumAge: age, warningAge: age, clockSkew: skew)
    guard (try? rule.age(of: verified.quorumTime, at: now)) != nil else { return 9 }
    var writer = ByteWriter()
    write(verified.checkpoint.origin.bytes, to: &writer)
    writer.write(verified.checkpoint.head.size)
    writer.write(verified.checkpoint.head.root.bytes)
    writer.write(verified.quorumTime ?? 0)
    writer.write(UInt32(truncatingIfNeeded: verified.cosignatures.count))
    let outside = verified.outsideWitnesses(by: policy)
    for cosignature in verified.cosignatures {
        write(cosignature.name.bytes, to: &writer)
        writer.write(cosignature.time)
        writer.write(UInt8(outside.contains(cosignature.name) ? 1 : 0))
    }
    output = writer.bytes
    return 0
}

extension CheckpointVerificationError {
    /// The step of ``signetTlogProof()`` that refused.
    var step: Int32 {
        switch self {
        case .checkpoint, .originNotListed: 4
        case .logSignatureMissing, .logSignatureInvalid: 5
        case .cosignatureInvalid: 6
        case .quorumNotMet: 7
        }
    }
}

/// The path of a tile in a log. Input: u64 level, 64 for entries; u64 index; u64 size of the log. Result: 1 with the path; 0: the
/// log has no such tile.
@_cdecl("signet_tile") public func signetTile() -> Int32 {
    output = []
    var fields = Fields()
    do throws(CanonicalCodingError) {
        let (level, index, size) = (try fields.reader.uint64(), try fields.reader.uint64(), try fields.reader.uint64())
        try fields.reader.end()
        guard level <= 64, let number = Int(exactly: level) else { return 0 }
        let count = level == 64 ? size : level < 8 ? size >> (8 * level) : 0
        guard index <= count / 256, index * 256 < count else { return 0 }
        let width = Int(min(256, count - index * 256))
        let content = level == 64 ? Tile.Content.entries : .hashes(level: number)
        guard let tile = try? Tile(content, index: index, width: width) else { return 0 }
        output = tile.path
        return 1
    } catch { return 0 }
}

/// The root over hashes of one level, from which proofs are put together. Input: the hashes one after the other, with their length.
/// Result: 1 with the root; 0: none, or half a hash.
@_cdecl("signet_subtree") public func signetSubtree() -> Int32 {
    output = []
    var fields = Fields()
    do throws(CanonicalCodingError) {
        guard let hashes = try fields.hashes(), !hashes.isEmpty else { return 0 }
        output = root(of: hashes[...]).bytes
        return 1
    } catch { return 0 }
}

/// RFC 6962, section 2.1: the left subtree has the largest power of two of leaves that leaves one for the right.
private func root(of hashes: ArraySlice<TreeHash>) -> TreeHash {
    guard hashes.count > 1 else { return hashes.first ?? .emptyTree }
    var half = 1
    while half * 2 < hashes.count { half *= 2 }
    return .node(root(of: hashes.prefix(half)), root(of: hashes.dropFirst(half)))
}

/// The epoch records in an entry bundle. Input: u64 number of entries, the bundle with its length. Result: their number, with for
/// each u32 place in the bundle, u64 number, u64 milliseconds since 1970, u64 first entry, u64 labels, the entry; -1: not a bundle.
@_cdecl("signet_epochs") public func signetEpochs() -> Int32 {
    output = []
    var fields = Fields()
    do throws(CanonicalCodingError) {
        let width = Int(clamping: try fields.reader.uint64())
        let bytes = try fields.bytes()
        guard let bundle = try? EntryBundle(decoding: bytes, width: width) else { return -1 }
        var writer = ByteWriter()
        var count: Int32 = 0
        for (place, entry) in bundle.entries.enumerated() {
            guard let record = try? EpochRecord(decoding: entry) else { continue }
            count += 1
            writer.write(UInt32(truncatingIfNeeded: place))
            for value in [record.number, record.time, record.start, record.labelCount] { writer.write(value) }
            write(entry, to: &writer)
        }
        output = writer.bytes
        return count
    } catch { return -1 }
}

/// Whether an entry is in the log. Input: u64 index, u64 size, 32-byte root, the entry, the hashes of the path, both with their
/// length. Result: 1 it is, 0 not proven, -1 the call is malformed.
@_cdecl("signet_logged") public func signetLogged() -> Int32 {
    output = []
    var fields = Fields()
    do throws(CanonicalCodingError) {
        let (index, size) = (try fields.reader.uint64(), try fields.reader.uint64())
        guard let root = try fields.hash() else { return -1 }
        let entry = try fields.bytes()
        guard let hashes = try fields.hashes() else { return -1 }
        try fields.reader.end()
        let proof = InclusionProof(index: index, hashes: hashes)
        return (try? proof.verify(leaf: .leaf(entry), in: TreeHead(size: size, root: root))) == nil ? 0 : 1
    } catch { return -1 }
}

/// The checks of a lookup in their order, for each its name and what holds when it passed.
@_cdecl("signet_checks") public func signetChecks() -> Int32 {
    var writer = ByteWriter()
    for check in LookupCheck.allCases {
        write(Array(check.name.utf8), to: &writer)
        write(Array(check.statement.utf8), to: &writer)
    }
    output = writer.bytes
    return Int32(truncatingIfNeeded: LookupCheck.allCases.count)
}
