// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A length of time as people write it: `3d`, `36h`, `15m`, `5s`.
public enum TimeLength {
    private static let secondsPerDay: UInt64 = 86_400

    /// The number of seconds; `UInt64.max` if it does not fit, nil if the text is malformed.
    ///
    /// - Parameter text: a decimal number without sign and leading zero, and one letter for its unit.
    public static func seconds(of text: [UInt8]) -> UInt64? {
        let unit: UInt64
        switch text.last {
        case UInt8(ascii: "s"): unit = 1
        case UInt8(ascii: "m"): unit = 60
        case UInt8(ascii: "h"): unit = 3600
        case UInt8(ascii: "d"): unit = secondsPerDay
        default: return nil
        }
        do {
            let (seconds, overflow) = try Decimal.decode(text.dropLast()).multipliedReportingOverflow(by: unit)
            return overflow ? .max : seconds
        } catch { return error == .overflow ? .max : nil }
    }

    /// The text for so many seconds: in days if they are whole ones.
    public static func text(ofSeconds seconds: UInt64) -> String {
        seconds.isMultiple(of: secondsPerDay) ? "\(seconds / secondsPerDay)d" : "\(seconds)s"
    }
}
