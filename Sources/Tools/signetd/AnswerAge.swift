// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency

/// How old the answers of a directory may be that its clients take: `1d`, `6h`, `30m`.
struct AnswerAge: ExpressibleByArgument {
    /// A quarter of an hour, as often as a server signs at the latest, to a day.
    static let allowed: ClosedRange<UInt64> = 900...FreshnessRule.standard.maximumAge

    let seconds: UInt64

    init(seconds: UInt64) { self.seconds = seconds }

    init?(argument: String) {
        guard let seconds = TimeLength.seconds(of: Array(argument.utf8)), Self.allowed.contains(seconds) else {
            return nil
        }
        self.seconds = seconds
    }

    var defaultValueDescription: String { TimeLength.text(ofSeconds: seconds) }
}
