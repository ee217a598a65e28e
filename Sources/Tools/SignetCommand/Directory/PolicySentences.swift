// SPDX-License-Identifier: Apache-2.0

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

    /// The same of a text that stands after so many lines of another.
    func counted(after count: Int) -> PolicyError {
        guard case .line(let number, let fault) = self else { return self }
        return .line(number - count, fault)
    }
}

extension PolicyLineFault {
    fileprivate var words: String {
        switch self {
        case .controlCharacter: "a control character"
        case .unknownKeyword: "it begins with none of log, witness, group and quorum"
        case .wrongWordCount(let count): "\(count) words: too few or too many"
        case .key(.keyIDMismatch): "the key's ID does not match its name and bytes"
        case .key(.ed25519): "bytes for which anyone can sign, or a second spelling of a key"
        case .key: "not a verifier key"
        case .keyOfOtherRole: "a log has a witness's kind of key, or a witness a log's"
        case .duplicateKey: "an earlier line has the same public key"
        case .duplicateName: "an earlier line has the same name"
        case .reservedName: "the name 'none' is reserved"
        case .malformedURL: "an address that cannot stand on a line"
        case .malformedThreshold: "the threshold is not 'any', 'all' or a number from 1 to the number of members"
        case .undefinedName:
            "a name that no earlier line defines; where it is `clock`, the server's own, give its directory file to `signet policy check --directory`"
        case .memberTwice: "a name that is already a member of a group"
        case .secondQuorum: "a second quorum line"
        }
    }
}
