// SPDX-License-Identifier: Apache-2.0

import CivilTime

/// The spelling of times in documents: `2027-01-14T08:00:00Z`, 20 characters.
///
/// Spec: RFC 3339, section 5.6; ISO/IEC 18013-5:2021, section 9.1.2.4 (no fractions of seconds, UTC alone).
enum DocumentTime {
    /// Seconds since 1970; nil for every other spelling, for the year 0, for days that the month does not have, and for
    /// leap seconds.
    static func seconds(_ text: [UInt8]) -> Int64? {
        guard text.count == 20, "--T::Z".utf8.elementsEqual(separators(text)) else { return nil }
        let fields = [text[0..<4], text[5..<7], text[8..<10], text[11..<13], text[14..<16], text[17..<19]]
        let numbers = fields.compactMap(number)
        guard numbers.count == 6, numbers[0] > 0, (1...12).contains(numbers[1]), numbers[3] < 24, numbers[4] < 60,
            numbers[5] < 60, (1...CivilDate.dayCount(ofMonth: numbers[1], year: numbers[0])).contains(numbers[2])
        else { return nil }
        let days = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2]).daysSince1970
        return Int64(((days * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5])
    }

    /// The spelling of a time from 1970 to the end of the year 9999; nil for any other.
    static func text(_ seconds: Int64) -> [UInt8]? {
        guard let seconds = UInt64(exactly: seconds), seconds <= UTCTime.last else { return nil }
        return Array(UTCTime(secondsSince1970: seconds).text.utf8)
    }

    private static func separators(_ text: [UInt8]) -> [UInt8] {
        [text[4], text[7], text[10], text[13], text[16], text[19]]
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}
