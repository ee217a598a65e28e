// SPDX-License-Identifier: Apache-2.0

import CivilTime
import Testing

struct CivilTimeTests {
    /// The days of the Gregorian calendar in figure 4 of RFC 5905, with their modified Julian numbers.
    @Test(
        arguments: [
            ("1582-10-15", -100_840), ("1899-12-31", 15_019), ("1900-01-01", 15_020), ("1970-01-01", 40_587),
            ("1972-01-01", 41_317), ("1999-12-31", 51_543), ("2036-02-08", 64_731),
        ])
    func aDayHasItsModifiedJulianNumber(text: String, number: Int) throws {
        let parts = text.split(separator: "-").compactMap { Int($0) }
        let date = CivilDate(year: parts[0], month: parts[1], day: parts[2])
        #expect(date.daysSince1970 == number - 40_587)
        if date.daysSince1970 >= 0 {
            #expect(CivilDate(daysSince1970: number - 40_587) == date)
        }
        #expect(date.text == text)
    }

    /// The leap years of RFC 3339, appendix C: divisible by 4, and by 100 only if by 400.
    @Test(arguments: [(1900, 28), (2000, 29), (2023, 28), (2024, 29), (2100, 28), (2400, 29)])
    func februaryHas29DaysInALeapYear(year: Int, count: Int) {
        #expect(CivilDate.dayCount(ofMonth: 2, year: year) == count)
    }

    /// Counts through two cycles of the calendar, with the months' lengths of RFC 3339, section 5.7.
    @Test func everyDayHasTheNumberAfterTheDayBefore() {
        var number = 0
        for year in 1970..<2770 {
            for month in 1...12 {
                for day in 1...CivilDate.dayCount(ofMonth: month, year: year) {
                    let date = CivilDate(year: year, month: month, day: day)
                    guard CivilDate(daysSince1970: number) == date, date.daysSince1970 == number else {
                        Issue.record("day \(number) after 1970-01-01 is not \(date.text)")
                        return
                    }
                    number += 1
                }
            }
        }
        #expect(number == 2 * 146_097)
    }

    /// Among them two instants of RFC 3339, section 5.8, and the last second that fits 32 bits; GNU `date` has the same
    /// numbers.
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1985-04-12T23:20:50Z", 482_196_050), ("1996-12-20T00:39:57Z", 851_042_397),
            ("2000-02-29T00:00:00Z", 951_782_400), ("2036-02-07T06:28:16Z", 2_085_978_496),
            ("2038-01-19T03:14:07Z", 2_147_483_647), ("2100-02-28T23:59:59Z", 4_107_542_399),
            ("2100-03-01T00:00:00Z", 4_107_542_400), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, UInt64)])
    func anInstantIsWrittenAsInRFC3339(text: String, seconds: UInt64) {
        #expect(UTCTime(secondsSince1970: seconds).text == text)
    }

    /// The example of RFC 9110, section 5.6.7, and days of the week by the algorithm of RFC 3339, appendix B.
    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        ] as [(UInt64, String)])
    func anInstantIsWrittenAsInHTTP(seconds: UInt64, text: String) {
        #expect(UTCTime(secondsSince1970: seconds).httpDate == text)
    }

    @Test func aTimeAfterTheYear9999IsItsLastSecond() {
        #expect(UTCTime(secondsSince1970: .max) == UTCTime(secondsSince1970: UTCTime.last))
        #expect(UTCTime(secondsSince1970: UTCTime.last - 1) != UTCTime(secondsSince1970: UTCTime.last))
    }
}
