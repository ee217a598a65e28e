// SPDX-License-Identifier: Apache-2.0

import KeyPinning

extension ChainRefusal {
    func sentence(_ server: String) -> Sentence {
        let between =
            "Nothing was sent. If the operator has not announced a change, someone may be intercepting the connection."
        let remedy =
            " Get a new directory file from the operator, not over this connection, and take it with 'signet pins accept FILE'."
        return switch reason {
        case .unknownHost:
            Self.unknownHostSentence(server)
        case .policyExpired(let time):
            Sentence(
                "The pin policy's rule for \(server) expired on \(Moment.date(time)) and says to block connections "
                    + "after that.",
                "Get a new policy.")
        case .proxy:
            Sentence("A proxy is set on this device, but the pin policy allows none.", "Unset it and try again.")
        case .noPinMatched:
            Sentence(
                "The server at \(server) is certified, but not with a key that you expect.",
                between + remedy)
        case .untrusted:
            Sentence("No authority that you trust has certified the server at \(server).", between + remedy)
        case .path(.otherName), .path(.noNames):
            Sentence("The server at \(server) shows a certificate for another name.", between)
        case .path(.expired), .path(.notYetValid):
            Sentence(
                "The certificate of the server at \(server) is not valid today.",
                "Check this device's date. If it is right, the operator has to renew it.")
        case .path(let fault):
            Sentence("The certificates of the server at \(server) break a rule: \(fault.words).", between)
        case .noCertificate, .tooManyCertificates, .tooManyBytes, .malformedCertificate, .searchTooLong:
            Sentence("The server at \(server) shows certificates that no honest server has.", between)
        }
    }
}

extension PathFault {
    /// A few words, with the place on the path.
    var words: String {
        switch self {
        case .version(let depth): "\(Self.place(depth)) is not of version 3"
        case .notYetValid(let depth): "\(Self.place(depth)) is not valid yet"
        case .expired(let depth): "\(Self.place(depth)) is not valid any more"
        case .serialNumber(let depth): "\(Self.place(depth)) has a serial number that no certificate may have"
        case .weakSignature(let depth): "\(Self.place(depth)) is signed using SHA-1"
        case .notAnAuthority(let depth): "\(Self.place(depth)) certifies but is not an authority"
        case .namelessAuthority(let depth): "\(Self.place(depth)) certifies but has no name"
        case .tooLong(let depth): "\(Self.place(depth)) has more authorities below it than allowed"
        case .authorityAsServer: "the server's certificate is an authority's certificate"
        case .keyUsage(let depth): "the key of \(Self.place(depth)) may not be used in this way"
        case .notForServers(let depth): "\(Self.place(depth)) is not for servers"
        case .otherName: "the server's certificate is for another host"
        case .noNames: "the server's certificate names no host"
        case .constrainedName(let depth): "a name is one that \(Self.place(depth)) may not certify"
        case .unknownConstraint(let depth): "\(Self.place(depth)) has a name constraint of an unknown kind"
        case .tooManyNames: "there are too many names and constraints"
        case .unknownExtension(let depth): "\(Self.place(depth)) has an unknown critical extension"
        case .malformedExtension(let depth): "\(Self.place(depth)) has an extension that cannot be read"
        }
    }

    private static func place(_ depth: Int) -> String {
        depth == 0 ? "the server's certificate" : "certificate \(depth + 1) of the path"
    }
}

extension PinRuleFault {
    /// A few words.
    var words: String {
        switch self {
        case .publicSuffix(let name):
            "strangers can register names below \(String(decoding: name, as: UTF8.self))"
        case .tooFewPins(let count): "\(count) key\(count == 1 ? "" : "s"), but at least two are needed"
        case .tooManyPins(let count): "\(count) keys is too many"
        case .duplicatePin: "the same key appears twice"
        case .noBackup: "there is no reserve key"
        case .onlyBackups: "there is no key in use"
        case .pinsWithoutEffect: "there are pins in a rule that pins nothing"
        case .backupInUse(let key):
            "the reserve key \(String(decoding: key.text(), as: UTF8.self)) is in the server's chain"
        case .noPinOutside: "every key is in the server's chain"
        }
    }
}
