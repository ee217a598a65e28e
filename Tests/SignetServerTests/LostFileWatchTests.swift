// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import Testing

@testable import SignetServer

/// Who reads only the program's log learns of lost files too, and of what not to do.
@Suite struct LostFileWatchTests {
    /// Files as they are, and the lines about them as they come.
    private final class Desk: Sendable {
        let faults = Mutex<[Readiness.Fault]>([])
        private let lines = Mutex<[String]>([])

        var watch: LostFileWatch {
            let logger = Logger(label: "test") { [self] _ in
                LogfmtOutput(level: .info, now: { 784_111_777 }) { line in
                    self.lines.withLock { $0.append(String(decoding: line.dropFirst(26).dropLast(), as: UTF8.self)) }
                }
            }
            return LostFileWatch(logger: logger) { [self] in faults.withLock { $0 } }
        }

        func set(_ faults: Readiness.Fault...) { self.faults.withLock { $0 = faults } }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    @Test func aLossHasOneLineWhenItBegins_andOneWhenItEnds() async {
        let desk = Desk()
        let watch = desk.watch
        await watch.compare()
        #expect(desk.take() == [])
        desk.set(.filesLost(["records/log/checkpoint.lock", "records/directory.sqlite"]))
        await watch.compare()
        let begin = desk.take()
        #expect(begin.count == 1 && begin.first?.hasPrefix("level=critical ") == true)
        #expect(begin.first?.contains("do not stop the server, see disasters.md") == true)
        #expect(begin.first?.contains(#"files="records/directory.sqlite, records/log/checkpoint.lock""#) == true)
        await watch.compare()
        #expect(desk.take() == [], "nothing has changed")
        desk.set(.filesLost(["records/directory.sqlite"]), .diskReserve)
        await watch.compare()
        let one = desk.take()
        #expect(one.count == 1 && one.first?.hasPrefix("level=notice ") == true)
        #expect(one.first?.contains("files=records/log/checkpoint.lock") == true)
        desk.set()
        await watch.compare()
        let end = desk.take()
        #expect(end.count == 1 && end.first?.hasPrefix("level=notice ") == true)
        #expect(end.first?.contains("files=records/directory.sqlite") == true)
    }

    /// Of what SQLite keeps beside a database nothing is lost by an orderly stop; what is only read has to be put back.
    @Test func eachKindOfFileHasItsOwnSentence() async {
        let desk = Desk()
        desk.set(.filesLost(["notes/notes.sqlite", "recovery.sqlite-wal"]), .filesMissing(["keys/log.key"]))
        await desk.watch.compare()
        let lines = desk.take()
        let files = ["notes/notes.sqlite", "recovery.sqlite-wal", "keys/log.key"]
        let sentences = ["do not stop the server, see", "do not kill the server", "before they are back"]
        #expect(lines.count == files.count)
        for (line, (file, sentence)) in zip(lines, zip(files, sentences)) {
            #expect(line.hasPrefix("level=critical ") && line.hasSuffix(" files=\(file)"), "\(line)")
            #expect(line.contains(sentence), "\(line)")
        }
    }
}
