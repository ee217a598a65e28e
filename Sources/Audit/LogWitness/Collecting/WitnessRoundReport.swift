// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// The result of asking the witnesses of a policy to cosign one checkpoint.
public struct WitnessRoundReport: Hashable, Sendable {
    /// What one witness did.
    public struct Report: Hashable, Sendable {
        /// Its name in the policy.
        public let name: Policy.Name
        /// What it did.
        public let outcome: WitnessOutcome
    }

    /// Every witness of the policy, in the policy's order.
    public let reports: [Report]
    /// The verified cosignatures that were not on the note yet, in the policy's order.
    public let cosignatures: [NoteSignature]
    /// Whether these, and those that were on the note already, meet the policy's quorum.
    public let isQuorumMet: Bool

    /// The note with the new cosignatures behind its lines.
    ///
    /// - Throws: ``TransparencyLog/NoteError/tooManySignatures``, ``TransparencyLog/NoteError/tooLong(byteCount:)``.
    public func cosigned(_ note: SignedNote) throws(NoteError) -> SignedNote {
        try SignedNote(text: note.text, signatures: note.signatures + cosignatures)
    }
}

/// What one witness did in a round.
public enum WitnessOutcome: Hashable, Sendable {
    /// Its cosignature was on the note already.
    case present(time: UInt64)
    /// It cosigned at this time, in seconds since 1970.
    case cosigned(time: UInt64)
    /// It had not answered when the quorum was met. Its answer is not waited for.
    case late
    /// The policy names no address, or none of a form that we know.
    case notAddressed
    /// This request was not sent, because too many earlier ones to the witness are still waiting.
    case overloaded
    /// There is no answer.
    case failed(WitnessFailure)
    /// It answered, and not with a cosignature.
    case refused(WitnessAnswer)
    /// It cosigned a larger checkpoint than this one: a later round was faster, or the log went back.
    case ahead(size: UInt64)
    /// The log has no proof from the size that the witness cosigned last.
    case noProof(from: UInt64)
    /// It answered with signature lines of which none is of its key in the policy.
    case unknownKey
    /// A line of its key does not verify.
    case invalidCosignature
    /// It cosigned, and its clock is too far from ours, in seconds since 1970: clients would refuse the time.
    case wrongTime(UInt64)
}

extension WitnessOutcome {
    /// One word for logs and metrics, out of a closed set.
    public var label: String {
        switch self {
        case .present: "present"
        case .cosigned: "cosigned"
        case .late: "late"
        case .notAddressed: "not_addressed"
        case .overloaded: "overloaded"
        case .failed(let failure): failure.label
        case .refused(let answer): answer.label
        case .ahead: "ahead"
        case .noProof: "no_proof"
        case .unknownKey: "unknown_key"
        case .invalidCosignature: "invalid_cosignature"
        case .wrongTime: "wrong_time"
        }
    }
}

extension WitnessFailure {
    fileprivate var label: String {
        switch self {
        case .unreachable: "unreachable"
        case .timedOut: "timed_out"
        case .notSecured: "not_secured"
        case .closedEarly: "closed_early"
        case .malformedResponse: "malformed_response"
        case .answerTooLong: "answer_too_long"
        }
    }
}

extension WitnessAnswer {
    fileprivate var label: String {
        switch self {
        case .cosignatures, .malformed: "malformed_answer"
        case .otherSize: "other_size"
        case .unknownLog: "unknown_log"
        case .signatureRefused: "signature_refused"
        case .inconsistent: "inconsistent"
        case .tooManyRequests: "too_many_requests"
        case .unavailable: "unavailable"
        case .unexpectedStatus: "unexpected_status"
        }
    }
}
