// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A witness's answer as a log reads it.
///
/// Witnesses of earlier drafts answer 403 for an unknown log and 409 without a size for another root; so a 409 says
/// what its body says, and the cases say no more than the codes do.
///
/// Spec: C2SP tlog-witness v1.0.0, "add-checkpoint".
public enum WitnessAnswer: Hashable, Sendable {
    /// 200: signature lines, at least one.
    ///
    /// Security: nothing is verified. Lines of unknown keys must be ignored.
    case cosignatures([NoteSignature])
    /// 409: the witness cosigned a checkpoint of this size last.
    case otherSize(latest: UInt64)
    /// 404.
    case unknownLog
    /// 403.
    case signatureRefused
    /// 422, or 409 without a size: the checkpoint does not extend what the witness cosigned.
    case inconsistent
    /// 429.
    case tooManyRequests
    /// 500 to 599.
    case unavailable(status: Int)
    /// Any other status.
    case unexpectedStatus(Int)
    /// 200 and something else than signature lines.
    case malformed

    /// The longest answer we read, in bytes.
    public static let maximumByteCount = 1 << 17

    /// The media type of a conflict's body.
    public static let sizeMediaType = "text/x.tlog.size"

    /// Reads an answer.
    public init(status: Int, body: [UInt8]) {
        self =
            switch status {
            case 200: Self.cosignatures(body)
            case 403: .signatureRefused
            case 404: .unknownLog
            case 409: Self.conflict(body)
            case 422: .inconsistent
            case 429: .tooManyRequests
            case 500...599: .unavailable(status: status)
            default: .unexpectedStatus(status)
            }
    }

    /// The body of an answer with these cosignatures.
    public static func body(of cosignatures: [NoteSignature]) -> [UInt8] { cosignatures.flatMap(\.encoded) }

    private static func cosignatures(_ body: [UInt8]) -> WitnessAnswer {
        guard body.count <= maximumByteCount, let lines = try? SignedNote.signatures(in: body[...]) else {
            return .malformed
        }
        return .cosignatures(lines)
    }

    private static func conflict(_ body: [UInt8]) -> WitnessAnswer {
        guard body.last == 0x0A, let size = try? Decimal.decode(body.dropLast()) else { return .inconsistent }
        return .otherSize(latest: size)
    }
}
