// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Prints figures in columns, each line at once.
public enum Report {
    /// A heading with an empty line before it.
    public static func title(_ text: String) { show("\n\(text)") }

    /// A sentence, such as that something is not measured and why.
    public static func note(_ text: String) { show("  \(text)") }

    /// A name and a figure.
    public static func line(_ name: String, _ figure: Double, _ unit: String) {
        show("  \(padded(name, to: 64)) \(text(figure)) \(unit)")
    }

    /// A name and a figure with a goal, and whether it is met.
    public static func goal(_ name: String, _ figure: Double, atMost limit: Double) {
        goal(name, figure, "at most \(text(limit))", isMet: figure <= limit)
    }

    /// A name and a figure with a goal, and whether it is met.
    public static func goal(_ name: String, _ figure: Double, atLeast limit: Double) {
        goal(name, figure, "at least \(text(limit))", isMet: figure >= limit)
    }

    private static func goal(_ name: String, _ figure: Double, _ goal: String, isMet: Bool) {
        let verdict = isTried ? "only tried" : isMet ? "met" : "MISSED"
        show("  \(padded(name, to: 64)) \(text(figure))  (goal: \(goal): \(verdict))")
    }

    private static func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func text(_ figure: Double) -> String {
        guard figure.isFinite else { return "-" }
        let hundredths = Int((figure * 100).rounded())
        let cents = abs(hundredths % 100)
        return "\(hundredths / 100).\(cents < 10 ? "0" : "")\(cents)"
    }
}
