// SPDX-License-Identifier: Apache-2.0

/// A date and a time of day in UTC, to the second, as Unix time counts it: without leap seconds.
package struct UTCTime: Equatable, Sendable {
    /// The last second of the year 9999, which ends the formats below.
    package static let last: UInt64 = 253_402_300_799

    /// The day.
    package let date: CivilDate
    /// 0 to 23.
    package let hour: Int
    /// 0 to 59.
    package let minute: Int
    /// 0 to 59.
    package let second: Int
    /// 0 is Sunday.
    package let weekday: Int

    /// - Parameter seconds: since 1970-01-01T00:00:00Z; a later one than ``last`` counts as ``last``.
    package init(secondsSince1970 seconds: UInt64) {
        let (days, rest) = min(seconds, Self.last).quotientAndRemainder(dividingBy: 86_400)
        date = CivilDate(daysSince1970: Int(days))
        (hour, minute, second) = (Int(rest) / 3600, Int(rest) / 60 % 60, Int(rest) % 60)
        weekday = (Int(days) + 4) % 7
    }

    /// The time of day as in `14:03:00`.
    package var timeText: String { "\(padded(hour, to: 2)):\(padded(minute, to: 2)):\(padded(second, to: 2))" }

    /// The time as in `2026-11-21T14:03:00Z`.
    ///
    /// Spec: RFC 3339, section 5.6, `date-time`.
    package var text: String { "\(date.text)T\(timeText)Z" }
}

extension UTCTime {
    /// The time as in `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Spec: RFC 9110, section 5.6.7, IMF-fixdate.
    package var httpDate: String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = months[date.month - 1]
        return "\(days[weekday]), \(padded(date.day, to: 2)) \(month) \(padded(date.year, to: 4)) \(timeText) GMT"
    }
}
