// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Why a witness does not cosign, and what it answers instead.
///
/// Spec: C2SP tlog-witness v1.0.0, "add-checkpoint": the status codes.
public enum WitnessRefusal: Error, Hashable, Sendable {
    /// The body is not a request. 400; but 403 for a signature line that is none: such a note is not signed.
    case malformed(AddCheckpointError)
    /// No log with this origin is known. 404.
    case unknownOrigin
    /// No line is of a key that is trusted for the origin. 403.
    case logSignatureMissing
    /// A line of a key that is trusted for the origin does not verify. 403.
    case logSignatureInvalid(VerifierKey)
    /// The old size is larger than the checkpoint's. 400.
    case oldSizeAboveCheckpoint(oldSize: UInt64, size: UInt64)
    /// The checkpoint cosigned last has another size than the old size; zero for none. 409.
    case otherSize(latest: UInt64)
    /// A checkpoint of size zero has another root than the empty tree's. 422.
    case emptyTreeRoot
    /// The old size is zero, and there is a proof all the same. 422.
    case proofFromEmptyTree
    /// The checkpoint does not extend the one cosigned last, or the proof does not show it. 422.
    ///
    /// Security: with a proof that fails at the old root, the signed checkpoint may be evidence of a fork.
    case inconsistent(ConsistencyProofError)
    /// The witness's own key or clock failed: nothing is said about the request. 500.
    case cannotSign(NoteSignerError)

    /// The HTTP status code.
    public var status: Int {
        switch self {
        case .malformed(.note(.malformedSignatureLine)): 403
        case .malformed, .oldSizeAboveCheckpoint: 400
        case .logSignatureMissing, .logSignatureInvalid: 403
        case .unknownOrigin: 404
        case .otherSize: 409
        case .emptyTreeRoot, .proofFromEmptyTree, .inconsistent: 422
        case .cannotSign: 500
        }
    }

    /// The media type of ``body``.
    public var mediaType: String {
        if case .otherSize = self { WitnessAnswer.sizeMediaType } else { "text/plain; charset=utf-8" }
    }

    /// The body: for a conflict the size of the checkpoint cosigned last, otherwise a remark for people; one line.
    public var body: [UInt8] {
        switch self {
        case .malformed: Array("malformed request\n".utf8)
        case .oldSizeAboveCheckpoint: Array("old size above the checkpoint's\n".utf8)
        case .logSignatureMissing: Array("no signature of a known key of this log\n".utf8)
        case .logSignatureInvalid: Array("invalid signature of a known key of this log\n".utf8)
        case .unknownOrigin: Array("unknown log\n".utf8)
        case .otherSize(let latest): Decimal.encode(latest) + [0x0A]
        case .emptyTreeRoot: Array("wrong root of the empty tree\n".utf8)
        case .proofFromEmptyTree: Array("a consistency proof where none is needed\n".utf8)
        case .inconsistent: Array("the consistency proof does not hold\n".utf8)
        case .cannotSign: Array("the witness cannot sign\n".utf8)
        }
    }
}

extension AddCheckpointRequest {
    /// Reads a request's body as a witness does.
    ///
    /// - Throws: ``WitnessRefusal/malformed(_:)``.
    public init(received body: [UInt8]) throws(WitnessRefusal) {
        do throws(AddCheckpointError) { try self.init(decoding: body) } catch { throw .malformed(error) }
    }
}
