import KeyPinning
import PinnedChains

extension ChainRefusal {
    static func unknownHostSentence(_ server: String) -> Sentence {
        Sentence("The pin policy has no rule for \(server).", "Add one, if you mean to speak to it.")
    }
}

extension TrustAnchorFault {
    func sentence(_ path: String) -> Sentence {
        switch self {
        case .malformed(let index):
            Sentence("Certificate \(index + 1) of \(path) cannot be used.", "Check that it is whole.")
        case .none: Sentence("There is no certificate in \(path).", "Name a PEM file.")
        }
    }
}

extension PEMFault {
    func sentence(_ path: String) -> Sentence {
        let what =
            switch self {
            case .nested(let line): "Line \(line) of \(path) begins a block inside of another."
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
        return Sentence("A certificate in \(path) is malformed at byte \(offset).", "Check that it is whole.")
    }
}

extension PinPolicyTextFault {
    func sentence(_ path: String) -> Sentence {
        let what =
            switch self {
            case .tooLong(let count): "\(path) has \(count) bytes, which is too long for a policy."
            case .unknownFormat: "\(path) is not a pin policy: its first line is not signet-pins/v1."
            case .line(let line): "Line \(line) of \(path) is not what a pin policy has there."
            case .pin(let line, _): "The pin at line \(line) of \(path) is none."
            case .host(let line, _): "The host at line \(line) of \(path) is none."
            case .rule(let line, let fault): "The rule at line \(line) of \(path) cannot be right: \(fault.words)."
            case .policy(.noRule): "The policy in \(path) has no rule."
            case .policy(.tooManyRules(let count)): "The policy in \(path) has \(count) rules, which are too many."
            case .policy(.duplicatePattern): "Two rules in \(path) are for the same hosts."
            case .policy(.nothingEnforced): "The policy in \(path) is for production and enforces nothing."
            }
        return Sentence(what, "Correct it.")
    }
}

extension PinListFault {
    func sentence(_ path: String) -> Sentence {
        switch self {
        case .malformed(let line): Sentence("\(path) cannot be read from line \(line) on.", "Check its format.")
        case .pin(let text, _): Sentence("'\(JSONValue.printable(text))' in \(path) is no pin.", "Correct it.")
        case .host: Sentence("\(path) names a host that is none.", "Correct it.")
        case .rule(let fault): Sentence("The pins in \(path) cannot be right: \(fault.words).", "Correct them.")
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
            case .expiry(let name): (name, "its end")
            case .expiryAction(let name): (name, "what happens at its end: that tool stops pinning then")
            case .tiers(let name): (name, "where on the path each key may stand")
            case .exclusions(let name): (name, "its exceptions")
            case .widened(let name): (name, "more hosts, or a shorter time, than you said")
            case .narrowed(let name): (name, "fewer hosts than you said")
            case .reportOnly(let name): (name, "that mismatches are only reported")
            case .trustOnly(let name): (name, "the whole rule, which pins nothing")
            case .host(let name): (name, "which host it is for")
            }
        return "\(String(decoding: name, as: UTF8.self)): \(what)"
    }
}
