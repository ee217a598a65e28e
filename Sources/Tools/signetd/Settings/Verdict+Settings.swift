// SPDX-License-Identifier: Apache-2.0

import Platform
import SignetServer

/// The sentences about settings. Each names the place, the error, and what to do.
extension Verdict {
    static func of(_ fault: SettingFault) -> Verdict {
        Verdict(.misconfigured, words(fault.place) + ": " + words(fault.reason))
    }

    private static func words(_ place: SettingFault.Place) -> String {
        switch place {
        case .file(let path): path
        case .line(let number, let path): "\(path), line \(number)"
        case .variable(let name): "the environment variable \(name)"
        case .environment: "the environment"
        }
    }

    private static func words(_ reason: SettingFault.Reason) -> String {
        switch reason {
        case .unreadable: "the file cannot be read; check its name and its permissions"
        case .notText: "the file is not UTF-8 text of at most \(Settings.maximumByteCount) bytes"
        case .noEqualsSign: "write `key = value`; begin a comment with #"
        case .unknown(let name): unknown(name)
        case .twice(let setting, let first): "\(setting.rawValue) is in line \(first) already; remove one of them"
        case .noValue(let setting): "\(setting.rawValue) has no value; give it one, or remove it to get the default"
        case .comment: "a comment needs a line of its own; move it there"
        case .wrongValue(let setting): "\(setting.rawValue) must be \(words(setting.kind))"
        case .halfOfPair(let one, let other): "\(one.rawValue) and \(other.rawValue) go together; set both or neither"
        case .notTogether(let one, let other):
            "\(one.rawValue) and \(other.rawValue) both say who may register; remove one of them"
        case .policy(let reason): words(reason)
        case .mailProgram(let path):
            "mail-program: there is no program at \(path) that this user may run; write its whole path, and make it executable"
        case .tokenKeys(let error): words(error)
        }
    }

    private static func words(_ reason: RegistrationPolicyError.Reason) -> String {
        let proofs = RegistrationPolicy.Proof.allCases.map(\.rawValue).joined(separator: ", ")
        return switch reason {
        case .notText: "the file is not UTF-8 text of at most \(RegistrationPolicy.maximumByteCount) bytes"
        case .unknownWord(let word):
            "there is no line \"\(word)\"; there are register, token-issuer, token-keys, token-client and mail-program"
        case .oneValue(let word): "write one word behind \(word), without spaces in it"
        case .notARegister: "write `register DOMAIN PROOF`; a proof is one of \(proofs)"
        case .notADomain(let word):
            "\(word) is not a domain in small letters, such as example.org, *.example.org for those below it, or * for all"
        case .unknownProof(let word): "there is no proof \"\(word)\"; there are \(proofs)"
        case .twice(let word): "\(word) is in an earlier line already; remove one of them"
        case .afterAll: "nothing behind `register *` counts; move that line to the end"
        case .nobodyRegisters: "there is no line `register DOMAIN PROOF`; without one nobody could register"
        case .tokenWithoutIssuer:
            "a domain registers with tokens: name the issuer with token-issuer, and its keys with token-keys"
        case .tokenUnused: "token-issuer, token-keys and token-client are of no use: no domain registers with tokens"
        case .mailWithoutProgram:
            "mail-program and a line `register DOMAIN mail` go together; write both or neither"
        }
    }

    private static func words(_ error: TokenKeysError) -> String {
        switch error {
        case .unreadable: "the keys of the token issuer cannot be read; check the name and the permissions"
        case .notAKeySet: "that is no JSON Web Key Set: an object with a list \"keys\""
        case .secretKey: "there is a secret key in the file; give the public keys only, and make that key anew"
        case .keyWithoutName: "a key has no \"kid\", by which tokens name it"
        case .nameTwice(let id): "two keys have the \"kid\" \(id)"
        case .notAKey(let id): "the key \(id) is not valid; an RSA key needs 2,048 bits"
        case .noKey: "there is no key for signatures with EdDSA (Ed25519), ES256 (P-256) or RS256 (RSA)"
        }
    }

    private static func unknown(_ name: String) -> String {
        let isVariable = name.hasPrefix(Setting.variablePrefix)
        let names = Setting.allCases.map { isVariable ? $0.variable : $0.rawValue }
        return
            "there is no setting \(isVariable ? "of this name" : "\"\(name)\""); there are \(names.joined(separator: ", "))"
    }

    private static func words(_ kind: Setting.Kind) -> String {
        switch kind {
        case .address: "host:port, such as 127.0.0.1:8443 or [::1]:8443"
        case .listenAddress:
            "host:port, such as 127.0.0.1:8443 or [::1]:8443, or unix: and the whole path of a socket, of at most "
                + "\(LocalSocket.maximumPathByteCount) bytes"
        case .addresses:
            "addresses or networks such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::1, without ports, with spaces between them"
        case .folder: "the path of a folder"
        case .file: "the path of a file that can be read"
        case .host: "an address without port and brackets, such as 0.0.0.0 or 2001:db8::1"
        case .level: "trace, debug, info, notice, warning, error or critical"
        case .names: "the names of witnesses in the policy, with spaces between them"
        case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .ports: "numbers of ports such as 8443,8444, each once, with commas between them"
        case .roles: "serve, sequence, or serve,sequence"
        case .size: "a size such as 5GB, 512MiB or 1000000"
        case .truth: "true or false"
        }
    }
}
