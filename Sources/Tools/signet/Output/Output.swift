import ArgumentParser

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes text to the standard streams; a closed one ends the program quietly.
enum Output {
    static func line(_ text: String = "") { write(text + "\n", to: STDOUT_FILENO) }
    static func json(_ value: JSONValue) { line(value.text) }
    static func error(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    /// Replaces the line on a terminal; nothing anywhere else.
    static func progress(_ text: String?) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        write("\r\u{1B}[K" + (text ?? ""), to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 {
                // Nobody reads. Of standard output that is the end; errors still have their exit status.
                if descriptor == STDOUT_FILENO { exit(ExitStatus.done.rawValue) }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}

/// `--json`, for every command that answers.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object, with its members in order of name.")
    var json = false

    /// Prints one or the other.
    func emit(_ json: JSONValue, _ text: String) {
        if self.json { Output.json(json) } else { Output.line(text) }
    }
}
