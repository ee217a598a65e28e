// SPDX-License-Identifier: Apache-2.0

/// The two spellings of time in a certificate.
///
/// Spec: RFC 5280 section 4.1.2.5: seconds are written, the zone is `Z`, and two-digit years are 1950 to 2049.
enum CertificateTime {
    /// Seconds since 1970.
    static func read(_ reader: inout DERReader) throws(DERFault) -> Int64 {
        let offset = reader.position
        let isShort = reader.nextTag == DERTag.utcTime
        let text = try reader.contents(isShort ? DERTag.utcTime : DERTag.generalizedTime)
        guard text.count == (isShort ? 13 : 15), text.last == UInt8(ascii: "Z") else {
            throw .invalidTime(offset: offset)
        }
        var digits = text.dropLast()
        guard let written = number(&digits, isShort ? 2 : 4), let month = number(&digits, 2),
            let day = number(&digits, 2), let hour = number(&digits, 2), let minute = number(&digits, 2),
            let second = number(&digits, 2)
        else { throw .invalidTime(offset: offset) }
        let year = isShort ? written + (written < 50 ? 2000 : 1900) : written
        guard (1...12).contains(month), (1...lastDay(month, year)).contains(day), hour < 24, minute < 60, second < 60
        else { throw .invalidTime(offset: offset) }
        return ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    private static func number(_ digits: inout ArraySlice<UInt8>, _ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digits.popFirst(), (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        return value
    }

    private static func lastDay(_ month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Days since 1970-01-01. Years begin in March, so that leap days come last.
    static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
