import TransparencyLog

extension PolicyError {
    func sentence(_ path: String) -> Sentence {
        let place =
            switch self {
            case .tooLong: "it is too long"
            case .lineNotTerminated: "its last line does not end"
            case .quorumMissing: "it has no quorum line"
            case .quorumOutOfReach:
                "its quorum cannot be met by the witnesses whose kind of key signet verifies (types 0x04 and 0x06)"
            case .line(let number, let fault): "line \(number): \(fault.words)"
            }
        return Sentence(
            "\(path) is not a policy as C2SP tlog-policy describes it: \(place).", "Correct it and try again."
        )
    }
}

extension PolicyLineFault {
    fileprivate var words: String {
        switch self {
        case .controlCharacter: "a control character"
        case .unknownKeyword: "it begins with none of log, witness, group and quorum"
        case .wrongWordCount(let count): "\(count) words are too few or too many"
        case .key(.keyIDMismatch): "the key's ID does not fit its name and bytes"
        case .key(.ed25519): "bytes for which anybody can sign, or a second spelling of a key"
        case .key: "not a verifier key"
        case .keyOfOtherRole: "a log has a witness's kind of key, or a witness a log's"
        case .duplicateKey: "an earlier line has the same public key"
        case .duplicateName: "an earlier line has the same name"
        case .reservedName: "nothing may be called none"
        case .malformedURL: "an address that no line can hold"
        case .malformedThreshold: "the threshold is neither any, nor all, nor a number from 1 to that of the members"
        case .undefinedName: "a name that no earlier line defines"
        case .memberTwice: "a name that is a member of a group already"
        case .secondQuorum: "a second quorum line"
        }
    }
}
