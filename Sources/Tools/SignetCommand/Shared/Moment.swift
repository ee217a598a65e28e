// SPDX-License-Identifier: Apache-2.0

/// Times in the words of a person.
enum Moment {
    /// `2026-11-21 11:09:58 UTC`.
    static func date(_ seconds: UInt64) -> String {
        guard seconds < 253_402_300_800 else { return "\(seconds) s after 1970" }
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = civil(days: Int(days))
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map { two(Int($0)) }.joined(separator: ":")
        return "\(year)-\(two(month))-\(two(day)) \(time) UTC"
    }

    /// `2026-11-21`, of a day counted from 1970.
    static func day(_ days: UInt64) -> String {
        guard days < 2_932_897 else { return "day \(days) after 1970" }
        return String(date(days * 86_400).prefix(10))
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

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The Gregorian date so many days after 1970-01-01: years begin in March, so that leap days come last.
    private static func civil(days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
