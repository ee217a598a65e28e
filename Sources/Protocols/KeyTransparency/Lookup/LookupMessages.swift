public import CanonicalCoding
public import TransparencyLog
public import VRF

/// What a client asks: the keys of a handle, and the log's growth since the checkpoint it knows.
///
/// Wire form: `signet-lookup-request/v1` LF; u64 known size (0 for none), big-endian; the handle to the end.
public struct LookupRequest: Hashable, Sendable {
    /// Whose keys.
    public let handle: Handle
    /// Size of the largest checkpoint the client has verified; 0 for none.
    public let knownSize: UInt64

    private static let format = Array("signet-lookup-request/v1\n".utf8)

    /// A request.
    public init(handle: Handle, knownSize: UInt64) {
        self.handle = handle
        self.knownSize = knownSize
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(knownSize)
        writer.write(handle.bytes)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``LookupMessageError``.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw LookupMessageError.unknownFormat
            }
            knownSize = try reader.uint64()
            handle = try Handle(canonical: Array(reader.rest()))
        } catch { throw LookupMessageError(error) }
    }
}

/// What a directory answers: everything a client needs to check the keys by itself, and nothing twice.
///
/// The log entries are not in it: the client builds them from the VRF hash and the account state, so
/// that there is nothing to compare. Wire form, integers big-endian:
///
/// | bytes | what |
/// |---|---|
/// | 17 | `signet-lookup/v1` LF |
/// | 80 | VRF proof for the handle |
/// | 1 | kind of the latest state record |
/// | 32 | opening of its commitment |
/// | 2 + n | the account state, with its length |
/// | 8 + 1 + 32n | inclusion proof of the state record: index, count, hashes |
/// | 8 + 1 + 32n each | inclusion proof of each device leaf, in the order of the state |
/// | 1 + 32n | consistency proof from the known size: count, hashes |
/// | rest | the checkpoint, a signed note |
public struct LookupResponse: Hashable, Sendable {
    /// No response is longer, in bytes.
    public static let maximumByteCount = 262_144
    /// No Merkle path in a tree of fewer than 2^63 leaves is longer, in hashes.
    public static let maximumPathLength = 63

    /// Proof that the label is the handle's.
    public let vrfProof: VRFProof
    /// Kind of the latest state record.
    public let kind: StateKind
    /// Opens the commitment in the state record, 32 bytes.
    public let opening: [UInt8]
    /// The account state, encoded.
    public let state: [UInt8]
    /// That the state record is in the log.
    public let stateInclusion: InclusionProof
    /// That each device leaf is in the log, in the order of the state's devices.
    public let deviceInclusions: [InclusionProof]
    /// That the checkpoint extends the one the client knows; empty if it knows none or the same.
    public let consistency: ConsistencyProof
    /// The checkpoint, a signed note as text.
    public let note: [UInt8]

    private static let format = Array("signet-lookup/v1\n".utf8)

    /// An answer of these parts.
    public init(
        vrfProof: VRFProof, kind: StateKind, opening: [UInt8], state: [UInt8],
        stateInclusion: InclusionProof, deviceInclusions: [InclusionProof],
        consistency: ConsistencyProof, note: [UInt8]
    ) {
        self.vrfProof = vrfProof
        self.kind = kind
        self.opening = opening
        self.state = state
        self.stateInclusion = stateInclusion
        self.deviceInclusions = deviceInclusions
        self.consistency = consistency
        self.note = note
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(vrfProof.bytes)
        writer.write(kind.rawValue)
        writer.write(opening)
        writer.write(UInt16(truncatingIfNeeded: state.count))
        writer.write(state)
        writer.write(stateInclusion)
        writer.write(UInt8(truncatingIfNeeded: deviceInclusions.count))
        for proof in deviceInclusions { writer.write(proof) }
        writer.write(consistency.hashes)
        writer.write(note)
        return writer.bytes
    }

    /// Reads the wire form: lengths and form only, nothing is verified.
    ///
    /// - Throws: ``LookupMessageError``: the server sent something malformed.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw LookupMessageError.unknownFormat
            }
            vrfProof = try VRFProof(Array(reader.bytes(VRFProof.byteCount)))
            let kindByte = try reader.uint8()
            guard let kind = StateKind(rawValue: kindByte) else {
                throw LookupMessageError.unknownStateKind(kindByte)
            }
            self.kind = kind
            opening = Array(try reader.bytes(StateCommitment.byteCount))
            state = Array(try reader.bytes(Int(reader.uint16())))
            stateInclusion = try reader.inclusionProof()
            var deviceInclusions: [InclusionProof] = []
            for _ in 0..<(try reader.uint8()) { deviceInclusions.append(try reader.inclusionProof()) }
            self.deviceInclusions = deviceInclusions
            consistency = ConsistencyProof(hashes: try reader.hashes())
            note = Array(reader.rest())
        } catch { throw LookupMessageError(error) }
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
    /// The kind byte is not one of ``StateKind``.
    case unknownStateKind(UInt8)
    /// The VRF proof is not a point and two scalars.
    case invalidVRFProof(VRFProofError)
    /// A Merkle path of more than ``LookupResponse/maximumPathLength`` hashes.
    case pathTooLong(Int)

    init(_ error: any Error) {
        self =
            switch error {
            case let error as LookupMessageError: error
            case let error as CanonicalCodingError: .malformed(error)
            case let error as HandleError: .invalidHandle(error)
            case let error as VRFProofError: .invalidVRFProof(error)
            default: .unknownFormat
            }
    }
}

extension ByteReader {
    fileprivate mutating func hashes() throws -> [TreeHash] {
        let count = Int(try uint8())
        guard count <= LookupResponse.maximumPathLength else { throw LookupMessageError.pathTooLong(count) }
        var hashes: [TreeHash] = []
        hashes.reserveCapacity(count)
        for _ in 0..<count {
            guard let hash = TreeHash(try bytes(TreeHash.byteCount)) else {
                throw LookupMessageError.unknownFormat
            }
            hashes.append(hash)
        }
        return hashes
    }

    fileprivate mutating func inclusionProof() throws -> InclusionProof {
        InclusionProof(index: try uint64(), hashes: try hashes())
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ hashes: [TreeHash]) {
        write(UInt8(truncatingIfNeeded: hashes.count))
        for hash in hashes { write(hash.bytes) }
    }

    fileprivate mutating func write(_ proof: InclusionProof) {
        write(proof.index)
        write(proof.hashes)
    }
}
