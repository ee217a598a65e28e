// SPDX-License-Identifier: Apache-2.0

/// How CR, LF, colon and backslash are written in a header.
///
/// Spec: STOMP 1.2, "Value Encoding".
enum HeaderEscape {
    private static let backslash = UInt8(ascii: "\\")

    static func escape(_ text: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.count)
        for byte in text {
            switch byte {
            case UInt8(ascii: "\r"): escaped += [backslash, UInt8(ascii: "r")]
            case UInt8(ascii: "\n"): escaped += [backslash, UInt8(ascii: "n")]
            case UInt8(ascii: ":"): escaped += [backslash, UInt8(ascii: "c")]
            case backslash: escaped += [backslash, backslash]
            default: escaped.append(byte)
            }
        }
        return escaped
    }

    /// What `escaped` stands for; nil if a backslash begins nothing that is defined.
    static func unescape(_ escaped: ArraySlice<UInt8>) -> [UInt8]? {
        var text: [UInt8] = []
        text.reserveCapacity(escaped.count)
        var rest = escaped
        while let byte = rest.popFirst() {
            guard byte == backslash else {
                text.append(byte)
                continue
            }
            guard let meant = rest.popFirst().flatMap(meaning) else { return nil }
            text.append(meant)
        }
        return text
    }

    private static func meaning(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "c"): UInt8(ascii: ":")
        case backslash: backslash
        default: nil
        }
    }
}
