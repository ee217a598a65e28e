// SPDX-License-Identifier: Apache-2.0

import CivilTime

/// Times as RFC 3339 writes them, in UTC, to the second: `2026-11-21T14:03:00Z`.
enum InternetTime {
    /// - Parameter seconds: since 1970; the year 9999 ends the format.
    static func text(_ seconds: UInt64) -> [UInt8] { Array(UTCTime(secondsSince1970: seconds).text.utf8) }

    /// The first second of a day written as `2027-01-01`; what follows is ignored. Nil for what is not a day.
    static func midnight(_ text: [UInt8]) -> UInt64? {
        let parts = text.prefix(10).split(separator: UInt8(ascii: "-")).map { String(decoding: $0, as: UTF8.self) }
        guard text.count >= 10, parts.map(\.utf8.count) == [4, 2, 2], let year = UInt16(parts[0]),
            let month = UInt8(parts[1]), let day = UInt8(parts[2]), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = CivilDate(year: Int(year), month: Int(month), day: Int(day)).daysSince1970
        return UInt64(exactly: Int64(days) * 86_400)
    }
}
