// SPDX-License-Identifier: Apache-2.0

/// Times as RFC 3339 writes them, in UTC, to the second: `2026-11-21T14:03:00Z`.
enum InternetTime {
    /// - Parameter seconds: since 1970; the year 9999 ends the format.
    static func text(_ seconds: UInt64) -> [UInt8] {
        let seconds = min(seconds, 253_402_300_799)
        let (year, month, day) = date(Int(seconds / 86_400))
        let rest = Int(seconds % 86_400)
        let text =
            "\(four(year))-\(two(month))-\(two(day))T\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))Z"
        return Array(text.utf8)
    }

    /// The first second of a day written as `2027-01-01`; what follows is ignored. Nil for what is not a day.
    static func midnight(_ text: [UInt8]) -> UInt64? {
        let parts = text.prefix(10).split(separator: UInt8(ascii: "-")).map { String(decoding: $0, as: UTF8.self) }
        guard text.count >= 10, parts.map(\.utf8.count) == [4, 2, 2], let year = UInt16(parts[0]),
            let month = UInt8(parts[1]), let day = UInt8(parts[2]), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        return UInt64(exactly: CertificateTime.days(Int64(year), Int64(month), Int64(day)) * 86_400)
    }

    /// The Gregorian date so many days after 1970-01-01: years begin in March, so that leap days come last.
    private static func date(_ days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthOfYear = (5 * dayOfYear + 2) / 153
        let month = monthOfYear < 10 ? monthOfYear + 3 : monthOfYear - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthOfYear + 2) / 5 + 1)
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    private static func four(_ number: Int) -> String { two(number / 100) + two(number % 100) }
}
