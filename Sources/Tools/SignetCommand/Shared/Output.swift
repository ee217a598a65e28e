// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Platform
import Synchronization

/// Writes text to the standard streams. When there is no reader any more, the text is dropped and the program goes on:
/// its exit status is an answer of its own.
enum Output {
    private static let hasWritten = Atomic(false)
    private static let isClosed = Atomic(false)

    /// Whether standard output has no reader any more.
    static var isUnread: Bool { isClosed.load(ordering: .relaxed) }
    /// Whether nothing was written to standard output yet.
    static var isBlank: Bool { !hasWritten.load(ordering: .relaxed) }

    /// Opens `/dev/null` in the place of standard streams that the caller closed: their numbers would
    /// otherwise go to the next files and sockets, and what the program says would be written into those.
    static func occupyStandardStreams() {
        var descriptor: Int32
        repeat { descriptor = open("/dev/null", O_RDWR) } while (0...STDERR_FILENO).contains(descriptor)
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// Text for a person: on a terminal, long lines go on in the next between words.
    static func line(_ text: String = "") { exact(fitting(text, STDOUT_FILENO)) }

    /// Text that is copied or read by a program: the lines are as they are, also on a terminal.
    static func exact(_ text: String) {
        hasWritten.store(true, ordering: .relaxed)
        if !write(text + "\n", to: STDOUT_FILENO) { isClosed.store(true, ordering: .relaxed) }
    }

    /// Bytes that others may have written, such as the text of a note: as they are into files and pipes; on a terminal
    /// without what could move its cursor, change its colours or turn the direction of its text.
    static func write(_ bytes: [UInt8]) {
        hasWritten.store(true, ordering: .relaxed)
        let shown = isatty(STDOUT_FILENO) == 1 ? Array(NoteText.block(bytes).utf8) : bytes
        if !write(shown, to: STDOUT_FILENO) {
            isClosed.store(true, ordering: .relaxed)
        }
    }

    static func json(_ value: PrintedValue) { exact(value.text) }
    static func error(_ text: String) { _ = write(fitting(text, STDERR_FILENO) + "\n", to: STDERR_FILENO) }

    private static func fitting(_ text: String, _ descriptor: Int32) -> String {
        columnCount(of: descriptor).map { LineWrap.wrapped(text, to: $0) } ?? text
    }

    /// Replaces the line on a terminal; nothing anywhere else.
    static func progress(_ text: String?) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        _ = write("\r\u{1B}[K" + (text ?? ""), to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        write(Array(text.utf8), to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

private func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}

/// `--json` and `--advanced`, for every command that answers.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object, with its members in order of name.")
    var json = false

    @Flag(help: "Show keys and hashes too.")
    var advanced = false

    /// Prints one or the other; keys and hashes in JSON only for those who want to see them.
    func emit(_ json: PrintedValue, _ text: @autoclosure () -> String) {
        guard self.json else { return Output.line(text()) }
        Output.json(advanced ? json : json.withoutKeys ?? .null)
    }
}
