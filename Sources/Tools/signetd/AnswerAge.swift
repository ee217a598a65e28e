import ArgumentParser
import KeyTransparency

/// How old the answers of a directory may be that its clients take: `1d`, `6h`, `30m`.
struct AnswerAge: ExpressibleByArgument {
    /// A quarter of an hour, as often as a server signs at the latest, to a day.
    static let allowed: ClosedRange<UInt64> = 900...FreshnessRule.standard.maximumAge

    let seconds: UInt64

    init(seconds: UInt64) { self.seconds = seconds }

    init?(argument: String) {
        let units: [Character: UInt64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = UInt64(argument.dropLast()) else {
            return nil
        }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow, Self.allowed.contains(seconds) else { return nil }
        self.seconds = seconds
    }

    var defaultValueDescription: String { seconds.isMultiple(of: 86_400) ? "\(seconds / 86_400)d" : "\(seconds)s" }
}
