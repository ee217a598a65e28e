// SPDX-License-Identifier: Apache-2.0

import CivilTime

/// Times in the words of a person.
enum Moment {
    /// `2026-11-21 11:09:58 UTC`.
    static func date(_ seconds: UInt64) -> String {
        guard seconds <= UTCTime.last else { return "\(seconds) s after 1970" }
        let time = UTCTime(secondsSince1970: seconds)
        return "\(time.date.text) \(time.timeText) UTC"
    }

    /// `2026-11-21`, of a day counted from 1970.
    static func day(_ days: UInt64) -> String {
        guard days <= UTCTime.last / 86_400 else { return "day \(days) after 1970" }
        return CivilDate(daysSince1970: Int(days)).text
    }

    /// `3 minutes`.
    static func span(_ seconds: UInt64) -> String {
        switch seconds {
        case 0..<120: count(seconds, "second")
        case 120..<7200: count(seconds / 60, "minute")
        case 7200..<172_800: count(seconds / 3600, "hour")
        default: count(seconds / 86_400, "day")
        }
    }

    static func count(_ number: UInt64, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// `1 entry`, `2 entries`.
    static func entries(_ number: UInt64) -> String { number == 1 ? "1 entry" : "\(number) entries" }
}
