/// Prints figures in columns.
public enum Report {
    /// A heading with an empty line before it.
    public static func title(_ text: String) { print("\n\(text)") }

    /// A name and a figure.
    public static func line(_ name: String, _ figure: Double, _ unit: String) {
        print("  \(padded(name, to: 64)) \(text(figure)) \(unit)")
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
        print("  \(padded(name, to: 64)) \(text(figure))  (goal: \(goal): \(isMet ? "met" : "MISSED"))")
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
