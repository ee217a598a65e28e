// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Prints figures in columns, each line at once: `Benchmarks/table.py` reads them.
public enum Report {
    private static let width = 78

    /// A heading with an empty line before it.
    public static func title(_ text: String) { show("\n\(text)") }

    /// A sentence, such as that something is not measured and why.
    public static func note(_ text: String) { show("  \(text)") }

    /// A name and a figure.
    public static func line(_ name: String, _ figure: Double, _ unit: String) {
        show("  \(padded(name, to: width))  \(text(figure)) \(unit)")
    }

    /// A name and a figure with a goal, and whether it is met.
    ///
    /// - Parameter isPeer: whether the figure is a ratio to somebody else's work, which is beaten at less than 1.
    public static func goal(_ name: String, _ figure: Double, atMost limit: Double, isPeer: Bool = false) {
        goal(name, figure, "at most \(short(limit))", isMet: figure <= limit, isBeaten: isPeer && figure < 1)
    }

    /// A name and a figure with a goal, and whether it is met.
    ///
    /// - Parameter isPeer: whether the figure is a ratio to somebody else's work, which is beaten at more than 1.
    public static func goal(_ name: String, _ figure: Double, atLeast limit: Double, isPeer: Bool = false) {
        goal(name, figure, "at least \(short(limit))", isMet: figure >= limit, isBeaten: isPeer && figure > 1)
    }

    private static func goal(_ name: String, _ figure: Double, _ goal: String, isMet: Bool, isBeaten: Bool) {
        let verdict = isTried ? "only tried" : !isMet ? "MISSED" : isBeaten ? "beaten" : "met"
        show("  \(padded(name, to: width))  \(text(figure))  (goal: \(goal): \(verdict))")
    }

    private static func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func short(_ limit: Double) -> String {
        limit == limit.rounded() ? "\(Int(limit))" : text(limit)
    }

    private static func text(_ figure: Double) -> String {
        guard figure.isFinite else { return "-" }
        let hundredths = Int((figure * 100).rounded())
        let cents = abs(hundredths % 100)
        return "\(hundredths / 100).\(cents < 10 ? "0" : "")\(cents)"
    }
}
