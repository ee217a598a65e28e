// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import PinnedChains

extension ChainRefusal {
    static func unknownHostSentence(_ server: String) -> Sentence {
        Sentence("The pin policy has no rule for \(server).", "Add one if you want to connect to it.")
    }
}

extension TrustAnchorFault {
    func sentence(_ path: String) -> Sentence {
        switch self {
        case .malformed(let index):
            Sentence("Certificate \(index + 1) of \(path) cannot be used.", "Check that it is complete.")
        case .none: Sentence("There is no certificate in \(path).", "Name a PEM file.")
        }
    }
}

extension PEMFault {
    func sentence(_ path: String) -> Sentence {
        let what =
            switch self {
            case .nested(let line): "Line \(line) of \(path) begins a block inside another one."
            case .unexpectedEnd(let line): "Line \(line) of \(path) ends a block that has not begun."
            case .invalidBase64(let line): "The block at line \(line) of \(path) is not base64."
            case .unfinished(let line): "The block at line \(line) of \(path) never ends."
            case .noCertificate: "There is no certificate in \(path)."
            }
        return Sentence(what, "Name a PEM file with certificates.")
    }
}

extension DERFault {
    func sentence(_ path: String) -> Sentence {
        let offset =
            switch self {
            case .truncated(let offset), .unexpectedTag(_, let offset), .invalidLength(let offset),
                .trailingBytes(let offset), .invalidTime(let offset):
                offset
            }
        return Sentence("A certificate in \(path) is malformed at byte \(offset).", "Check that it is complete.")
    }
}

extension PinPolicyTextFault {
    func sentence(_ path: String) -> Sentence {
        let what =
            switch self {
            case .tooLong(let count): "\(path) has \(count) bytes, which is too long for a pin policy."
            case .unknownFormat: "\(path) is not a pin policy: its first line is not signet-pins/v1."
            case .line(let line): "Line \(line) of \(path) does not fit the format of a pin policy."
            case .pin(let line, _): "The pin at line \(line) of \(path) is not valid."
            case .host(let line, _): "The host at line \(line) of \(path) is not valid."
            case .rule(let line, let fault): "The rule at line \(line) of \(path) is not valid: \(fault.words)."
            case .policy(.noRule): "The policy in \(path) has no rule."
            case .policy(.tooManyRules(let count)): "The policy in \(path) has \(count) rules, which is too many."
            case .policy(.duplicatePattern): "Two rules in \(path) cover the same hosts."
            case .policy(.nothingEnforced): "The policy in \(path) is for production but enforces nothing."
            }
        return Sentence(what, "Correct it.")
    }
}

extension PinListFault {
    func sentence(_ path: String) -> Sentence {
        switch self {
        case .malformed(let line): Sentence("\(path) cannot be read from line \(line) on.", "Check its format.")
        case .pin(let text, _): Sentence("'\(PrintedValue.printable(text))' in \(path) is not a pin.", "Correct it.")
        case .host: Sentence("\(path) names a host that is not valid.", "Correct it.")
        case .rule(let fault): Sentence("The pins in \(path) are not valid: \(fault.words).", "Correct them.")
        case .empty: Sentence("There are no pins in \(path).", "Check its format.")
        case .needsHost: Sentence("That format does not name a host.", "Name it with --host.")
        case .needsCertificate:
            Sentence(
                "A hash of a bare key cannot become a pin without its certificate.",
                "Name the server's chain with --chain.")
        case .cannotBeWritten: Sentence("Hashes of bare keys are not written.", "Choose another format.")
        }
    }
}

extension PinListLoss {
    var words: String {
        let (name, what) =
            switch self {
            case .expiry(let name): (name, "its end date")
            case .expiryAction(let name): (name, "what happens at its end date: that tool stops pinning then")
            case .tiers(let name): (name, "where in the certificate path each key may stand")
            case .exclusions(let name): (name, "its exceptions")
            case .widened(let name): (name, "more hosts, or a shorter time, than you specified")
            case .narrowed(let name): (name, "fewer hosts than you specified")
            case .reportOnly(let name): (name, "the setting that mismatches are only reported")
            case .trustOnly(let name): (name, "the whole rule, because it pins nothing")
            case .host(let name): (name, "which host it is for")
            }
        return "\(String(decoding: name, as: UTF8.self)): \(what)"
    }
}
