// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import TransparencyLog
public import VRF
public import VerifiableMap

// How an answer is written and read: the table of ``LookupResponse``, row by row. Nothing is verified here.

extension LookupResponse {
    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(vrfProof.bytes)
        writer.write(epoch)
        writer.write(path: epochPath)
        switch answer {
        case .absent(let proof):
            writer.write(UInt8(0))
            writer.write(absence: proof)
        case .present(let label):
            writer.write(label.kindByte)
            writer.write(label)
        }
        writer.write(path: consistency.hashes)
        writer.write(note)
        return writer.bytes
    }

    /// Reads the wire form: lengths and form only.
    ///
    /// - Throws: ``LookupMessageError``: the server sent something malformed.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        var reader = FormatReader<LookupMessageError>(bytes)
        guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else { throw .unknownFormat }
        let proof = Array(try reader.bytes(VRFProof.byteCount))
        do throws(VRFProofError) { vrfProof = try VRFProof(proof) } catch { throw .invalidVRFProof(error) }
        epoch = try reader.epochRecord()
        epochPath = try reader.path()
        let kind = try reader.uint8()
        answer = kind == 0 ? .absent(try reader.absence()) : .present(try reader.label(kind: kind))
        consistency = ConsistencyProof(hashes: try reader.path())
        note = Array(reader.rest())
    }
}

extension LabelAnswer {
    fileprivate var kindByte: UInt8 {
        switch step {
        case .state(let kind, _, _): kind.rawValue
        case .closed: StateKind.close.rawValue
        }
    }
}

extension ByteWriter {
    mutating func write(path hashes: [TreeHash]) {
        write(UInt8(truncatingIfNeeded: hashes.count))
        for hash in hashes { write(hash.bytes) }
    }

    mutating func write(_ epoch: EpochRecord) {
        for number in [epoch.number, epoch.time, epoch.start, epoch.labelCount, epoch.milestone] { write(number) }
        write(epoch.root.bytes)
    }

    mutating func write(_ path: MapPath) {
        write(UInt16(truncatingIfNeeded: path.steps.count))
        write(path.encoded)
    }

    mutating func write(absence proof: MapProof) {
        switch proof {
        case .absent(let other, let path):
            write(UInt8(1))
            write(other.key.bytes)
            write(other.value.bytes)
            write(path)
        case .absentFromEmptyTrie, .present: write(UInt8(0))
        }
    }

    fileprivate mutating func write(_ label: LabelAnswer) {
        write(label.indexPath)
        write(label.head.count)
        write(label.head.root.bytes)
        write(path: label.lastPath)
        write(path: label.historyConsistency.hashes)
        write(label.inclusion.index)
        write(path: label.inclusion.hashes)
        switch label.step {
        case .state(_, let opening, let encoded):
            write(opening)
            write(UInt16(truncatingIfNeeded: encoded.count))
            write(encoded)
        case .closed(let version): write(version)
        }
    }
}

extension FormatReader<LookupMessageError> {
    mutating func path() throws(LookupMessageError) -> [TreeHash] {
        let count = Int(try uint8())
        guard count <= LookupResponse.maximumPathLength else { throw .pathTooLong(count) }
        var hashes: [TreeHash] = []
        hashes.reserveCapacity(count)
        for _ in 0..<count { hashes.append(try hash(TreeHash.init)) }
        return hashes
    }

    mutating func epochRecord() throws(LookupMessageError) -> EpochRecord {
        EpochRecord(
            number: try uint64(), time: try uint64(), start: try uint64(), labelCount: try uint64(),
            milestone: try uint64(), root: try hash(MapHash.init))
    }

    /// The next 32 bytes as a hash of some kind.
    mutating func hash<Hash>(_ make: (ArraySlice<UInt8>) -> Hash?) throws(LookupMessageError) -> Hash {
        guard let hash = make(try bytes(32)) else { throw .unknownFormat }
        return hash
    }

    mutating func mapPath() throws(LookupMessageError) -> MapPath {
        let count = Int(try uint16())
        guard count <= MapPath.maximumStepCount else { throw .pathTooLong(count) }
        var steps: [MapPath.Step] = []
        steps.reserveCapacity(count)
        for _ in 0..<count {
            steps.append(MapPath.Step(bit: try uint8(), sibling: try hash(MapHash.init)))
        }
        do throws(MapProofError) { return try MapPath(steps) } catch { throw .invalidIndexPath(error) }
    }

    mutating func absence() throws(LookupMessageError) -> MapProof {
        switch try uint8() {
        case 0: return .absentFromEmptyTrie
        case 1:
            let other = MapEntry(key: try hash(MapKey.init), value: try hash(MapValue.init))
            return .absent(beside: other, path: try mapPath())
        case let byte: throw .unknownAnswer(byte)
        }
    }

    fileprivate mutating func label(kind: UInt8) throws(LookupMessageError) -> LabelAnswer {
        guard let kind = StateKind(rawValue: kind) else { throw .unknownAnswer(kind) }
        let indexPath = try mapPath()
        let head = LabelHead(TreeHead(size: try uint64(), root: try hash(TreeHash.init)))
        let (lastPath, history) = (try path(), ConsistencyProof(hashes: try path()))
        let inclusion = InclusionProof(index: try uint64(), hashes: try path())
        return LabelAnswer(
            indexPath: indexPath, head: head, lastPath: lastPath, historyConsistency: history,
            inclusion: inclusion, step: try step(kind))
    }

    private mutating func step(_ kind: StateKind) throws(LookupMessageError) -> LabelAnswer.Step {
        if kind == .close { return .closed(version: try uint64()) }
        let opening = Array(try bytes(StateCommitment.byteCount))
        return .state(kind, opening: opening, encoded: Array(try bytes(Int(try uint16()))))
    }
}

/// Why a message between client and directory cannot be read.
public enum LookupMessageError: Error, Hashable, Sendable {
    /// Cut short, or a length that the bytes do not have.
    case malformed(CanonicalCodingError)
    /// The first line is another one.
    case unknownFormat
    /// More than ``LookupResponse/maximumByteCount`` bytes.
    case tooLong(Int)
    /// Not a handle in its one spelling.
    case invalidHandle(HandleError)
    /// A byte that says what kind of answer follows has no meaning.
    case unknownAnswer(UInt8)
    /// The VRF proof is not a point and two scalars.
    case invalidVRFProof(VRFProofError)
    /// More steps than ``LookupResponse/maximumPathLength``, or `MapPath.maximumStepCount` in the index.
    case pathTooLong(Int)
    /// More entries or milestones than an answer may have.
    case tooManyEntries(Int)
    /// The steps of a path in the index are not in order.
    case invalidIndexPath(MapProofError)
}

extension LookupMessageError: FormatError {}
