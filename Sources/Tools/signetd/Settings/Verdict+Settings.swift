// SPDX-License-Identifier: Apache-2.0

import Platform

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
        case .level: "trace, debug, info, notice, warning, error or critical"
        case .names: "the names of witnesses in the policy, with spaces between them"
        case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .size: "a size such as 5GB, 512MiB or 1000000"
        case .truth: "true or false"
        }
    }
}
