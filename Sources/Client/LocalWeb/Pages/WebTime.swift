// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Times in the person's own zone.
enum WebTime {
    /// `today, 09:14`, `26 November 2026, 09:14`.
    static func words(_ seconds: UInt64, _ now: UInt64) -> String {
        "\(day(seconds, now)), \(clock(seconds))"
    }

    /// `today`, `yesterday`, `26 November 2026`.
    static func day(_ seconds: UInt64, _ now: UInt64) -> String {
        let parts = self.parts(seconds)
        if parts == self.parts(now) { return "today" }
        if now >= 86_400, parts == self.parts(now - 86_400) { return "yesterday" }
        guard let day = parts.day, let month = parts.month, let year = parts.year, (1...12).contains(month) else {
            return "\(seconds) s after 1970"
        }
        return "\(day) \(months[month - 1]) \(year)"
    }

    /// A day since 1970, as another device of the person's counted it: `26 November 2026`.
    static func words(day: UInt64) -> String {
        var utc = calendar
        utc.timeZone = .gmt
        let parts = utc.dateComponents([.year, .month, .day], from: date(min(day, 3_000_000) * 86_400))
        return "\(parts.day ?? 1) \(months[(parts.month ?? 1) - 1]) \(parts.year ?? 1970)"
    }

    /// Today, counted from 1970-01-01, as the person's calendar has it.
    static func dayNumber(_ seconds: UInt64) -> UInt64 {
        let ahead = Int64(TimeZone.current.secondsFromGMT(for: date(seconds)))
        return UInt64(max(0, Int64(clamping: seconds) + ahead)) / 86_400
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        return calendar
    }()

    private static func parts(_ seconds: UInt64) -> DateComponents {
        calendar.dateComponents([.year, .month, .day], from: date(seconds))
    }

    private static func clock(_ seconds: UInt64) -> String {
        let parts = calendar.dateComponents([.hour, .minute], from: date(seconds))
        let digits = [parts.hour ?? 0, parts.minute ?? 0].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return digits.joined(separator: ":")
    }

    /// Before the year 10000, whatever a clock said.
    private static func date(_ seconds: UInt64) -> Date {
        Date(timeIntervalSince1970: TimeInterval(min(seconds, 253_402_300_799)))
    }
}
