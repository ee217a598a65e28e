// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import TransparencyLog

extension LookupProof {
    /// What is proven: the entry's place, the log, and each witness.
    func words(_ checkpoint: VerifiedCheckpoint) -> [String] {
        let head = checkpoint.checkpoint.head
        return [
            "the entry is number \(proof.inclusion.index) of \(head.size) in the log "
                + PrintedValue.printable(checkpoint.checkpoint.origin.bytes)
        ]
            + checkpoint.cosignatures.map {
                "witnessed by \(PrintedValue.printable($0.name.bytes)) at \(Moment.date($0.time))"
            }
    }
}

extension TlogProofError {
    var sentence: Sentence {
        Sentence("The file is not a proof as C2SP tlog-proof describes it: \(reason).", "Nothing is proven.")
    }

    private var reason: String {
        switch self {
        case .tooLong: "it is too long"
        case .unknownHeader: "its first line is not the expected one"
        case .truncated: "it ends too early"
        case .extra, .extraEmpty: "its extra line is not canonical base64"
        case .indexMissing, .index: "its index line is missing or not a plain decimal number"
        case .malformedHash(let line): "line \(line) is not a hash"
        case .tooManyHashes: "it has more hashes than any tree needs"
        case .note: "its checkpoint is not a signed note"
        }
    }
}

extension TlogProofVerificationError {
    var sentence: Sentence {
        switch self {
        case .checkpoint(let error): error.sentence
        case .inclusion(.indexBeyondSize(let index, let size)):
            Sentence("Entry \(index) cannot be in a log of \(size) entries.", "Nothing is proven.")
        case .inclusion(.wrongHashCount(let expected, let actual)):
            Sentence("The proof needs \(expected) hashes and has \(actual).", "Nothing is proven.")
        case .inclusion(.rootMismatch):
            Sentence("The entry is not where the proof says it is in the signed log.", "Nothing is proven.")
        }
    }
}

extension CheckpointVerificationError {
    var sentence: Sentence {
        let remedy = "Nothing is proven."
        return switch self {
        case .checkpoint: Sentence("The signed text is not a checkpoint.", remedy)
        case .originNotListed: Sentence("The policy does not name this log.", remedy)
        case .logSignatureMissing:
            Sentence("No key of the log that the policy names signed the checkpoint.", remedy)
        case .logSignatureInvalid: Sentence("The log's signature is wrong.", remedy)
        case .cosignatureInvalid: Sentence("A witness's signature is wrong.", remedy)
        case .quorumNotMet: Sentence("Too few of the policy's witnesses signed the checkpoint.", remedy)
        }
    }
}

extension ECallError {
    var sentence: Sentence {
        let remedy = "Do not call them. Without --ecall, the lookup tells you more and keeps evidence."
        return switch self {
        case .invalidNoteFormat: Sentence("The answer's proof is not a proof in a log.", remedy)
        case .invalidBase64: Sentence("The answer has a field that is not plain base64.", remedy)
        case .signatureVerificationFailed: Sentence("The log's key did not sign the checkpoint in the answer.", remedy)
        case .invalidInclusionProof:
            Sentence("The key in the answer is not in the signed log: someone may be eavesdropping.", remedy)
        }
    }
}
