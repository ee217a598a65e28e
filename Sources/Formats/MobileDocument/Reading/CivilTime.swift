// SPDX-License-Identifier: Apache-2.0

/// Times as documents spell them: `2027-01-14T08:00:00Z`, 20 characters.
///
/// Spec: RFC 3339, section 5.6; ISO/IEC 18013-5:2021, section 9.1.2.4 (no fractions of seconds, UTC alone).
enum CivilTime {
    /// Seconds since 1970; nil for every other spelling, for days that no month has, and for leap seconds.
    static func seconds(_ text: [UInt8]) -> Int64? {
        guard text.count == 20, "--T::Z".utf8.elementsEqual(separators(text)) else { return nil }
        let fields = [text[0..<4], text[5..<7], text[8..<10], text[11..<13], text[14..<16], text[17..<19]]
        let numbers = fields.compactMap(number)
        guard numbers.count == 6, (1...12).contains(numbers[1]), numbers[3] < 24, numbers[4] < 60, numbers[5] < 60,
            (1...monthLength(numbers[0], numbers[1])).contains(numbers[2])
        else { return nil }
        let days = days(numbers[0], numbers[1], numbers[2])
        return ((days * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
    }

    /// The spelling of a time from 1970 to the end of the year 9999; nil for any other.
    static func text(_ seconds: Int64) -> [UInt8]? {
        guard (0..<253_402_300_800).contains(seconds) else { return nil }
        let (day, rest) = (seconds / 86_400, seconds % 86_400)
        var year = 1970 + day / 366
        while days(year + 1, 1, 1) <= day { year += 1 }
        var month: Int64 = 1
        while month < 12, days(year, month + 1, 1) <= day { month += 1 }
        let date = padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day - days(year, month, 1) + 1, 2)
        return Array(
            (date + "T" + padded(rest / 3600, 2) + ":" + padded(rest / 60 % 60, 2) + ":" + padded(rest % 60, 2) + "Z")
                .utf8)
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    private static func separators(_ text: [UInt8]) -> [UInt8] {
        [text[4], text[7], text[10], text[13], text[16], text[19]]
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func monthLength(_ year: Int64, _ month: Int64) -> Int64 {
        if month == 2 { return isLeap(year) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days from 1 January 1970, before it negative.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let before = year - 1
        let leapDays = before >= 0 ? before / 4 - before / 100 + before / 400 : -1
        let inYear = (1..<month).reduce(0) { $0 + monthLength(year, $1) }
        return before * 365 + leapDays + inYear + day - 1 - 719_162
    }
}
