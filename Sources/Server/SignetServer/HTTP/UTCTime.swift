// SPDX-License-Identifier: Apache-2.0

/// A time of day and a date in UTC, from seconds since 1970.
struct UTCTime {
    let year: Int, month: Int, day: Int
    let hour: Int, minute: Int, second: Int
    /// 0 is Sunday.
    let weekday: Int

    init(event seconds: UInt64) {
        let seconds = Int(clamping: min(seconds, 253_402_300_799))
        let days = seconds / 86_400
        (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
        weekday = (days + 4) % 7
        // The calendar repeats every 400 years of 146,097 days; years are counted from March, so that the leap
        // day is the last of its year.
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

    /// Spec: RFC 3339, section 5.6.
    var text: String {
        "\(year)-\(two(month))-\(two(day))T\(two(hour)):\(two(minute)):\(two(second))Z"
    }

    /// Spec: RFC 9110, section 5.6.7, IMF-fixdate.
    var httpDate: String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(days[weekday]), \(two(day)) \(months[month - 1]) \(year)"
            + " \(two(hour)):\(two(minute)):\(two(second)) GMT"
    }

    private func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
