// SPDX-License-Identifier: Apache-2.0

import CivilTime
import Platform

/// Times in the words of a person.
enum Moment {
    /// `2026-11-21 12:09:58 +01:00`, in the person's time zone; `2026-11-21 11:09:58 UTC` where that is UTC.
    static func date(_ seconds: UInt64) -> String { date(seconds, ahead: secondsAheadOfUTC(at: seconds)) }

    /// The same on every machine, for files.
    static func utc(_ seconds: UInt64) -> String { date(seconds, ahead: 0) }

    /// - Parameter ahead: how many seconds local time is ahead of UTC.
    static func date(_ seconds: UInt64, ahead: Int) -> String {
        guard let local = local(seconds, ahead), local <= UTCTime.last else { return "\(seconds) s after 1970" }
        let time = UTCTime(secondsSince1970: local)
        return "\(time.date.text) \(time.timeText) \(zone(ahead))"
    }

    /// `+01:00`, or `UTC`. Abbreviations such as CST mean several zones.
    private static func zone(_ ahead: Int) -> String {
        guard ahead != 0 else { return "UTC" }
        let parts = [abs(ahead) / 3600, abs(ahead) / 60 % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return (ahead < 0 ? "-" : "+") + parts.joined(separator: ":")
    }

    private static func local(_ seconds: UInt64, _ ahead: Int) -> UInt64? {
        UInt64(exactly: Int64(clamping: seconds).addingReportingOverflow(Int64(ahead)).partialValue)
    }

    /// The day of a time, in the person's time zone, counted from 1970.
    static func dayNumber(of seconds: UInt64) -> UInt64 {
        (local(seconds, secondsAheadOfUTC(at: seconds)) ?? seconds) / 86_400
    }

    /// `2026-11-21`, in the person's time zone.
    static func day(of seconds: UInt64) -> String { day(dayNumber(of: seconds)) }

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
