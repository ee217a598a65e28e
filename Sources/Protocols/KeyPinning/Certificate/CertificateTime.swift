// SPDX-License-Identifier: Apache-2.0

import CivilTime

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
        guard (1...12).contains(month), (1...CivilDate.dayCount(ofMonth: month, year: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { throw .invalidTime(offset: offset) }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        return ((Int64(days) * 24 + Int64(hour)) * 60 + Int64(minute)) * 60 + Int64(second)
    }

    private static func number(_ digits: inout ArraySlice<UInt8>, _ count: Int) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let digit = digits.popFirst(), (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int(digit - 0x30)
        }
        return value
    }
}
