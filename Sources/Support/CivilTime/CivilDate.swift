// SPDX-License-Identifier: Apache-2.0

/// A day of the Gregorian calendar, without a time zone. The numbers may be those of a day that does not exist: the
/// parser of a date has to check them.
package struct CivilDate: Equatable, Sendable {
    /// The year, 1 or later.
    package let year: Int
    /// The month, 1 to 12.
    package let month: Int
    /// The day of the month, 1 to 31.
    package let day: Int

    /// The day with these numbers.
    package init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day that is this many days after 1970-01-01.
    ///
    /// The calendar repeats every 400 years, which are 146,097 days. Years are counted from March, so that the leap day is
    /// the last day of its year; 719,468 days lie between the first of March of the year 0 and 1970-01-01.
    ///
    /// - Parameter days: 0 or more.
    package init(daysSince1970 days: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01; negative before it.
    package var daysSince1970: Int {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    /// How many days a month has.
    package static func dayCount(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// The day as in `2026-11-21`.
    ///
    /// Spec: RFC 3339, section 5.6, `full-date`.
    package var text: String { "\(padded(year, to: 4))-\(padded(month, to: 2))-\(padded(day, to: 2))" }
}

/// A number in decimal digits, with zeros before it.
func padded(_ number: Int, to length: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, length - digits.utf8.count)) + digits
}
