// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Synchronization
import Testing

@testable import SignetServer

/// A witness that is away for a night does not fill the log of the program.
@Suite struct WitnessLineTests {
    private final class Desk: Sendable {
        let lines = Mutex<[String]>([])
        let seconds = Mutex<UInt64>(0)

        var witnesses: WitnessLines {
            let logger = Logger(label: "test") { [self] _ in
                LogfmtOutput(level: .info, now: { 784_111_777 }) { line in
                    self.lines.withLock { $0.append(String(decoding: line.dropFirst(26).dropLast(), as: UTF8.self)) }
                }
            }
            return WitnessLines(logger) { [self] in seconds.withLock { $0 } * 1_000_000_000 }
        }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    @Test func anAbsentWitnessHasALineAMinuteWithTheNumberOfRounds() {
        let desk = Desk()
        let witnesses = desk.witnesses
        for second in 0..<180 as Range<UInt64> {
            desk.seconds.withLock { $0 = second }
            witnesses.note(.missing("w1", why: "unreachable"), size: 7)
            witnesses.note(.belowQuorum, size: 7)
        }
        #expect(
            desk.take()
                == [1, 60, 60].flatMap { count in
                    [
                        #"level=warning msg="a witness did not cosign" count=\#(count) size=7 why=unreachable witness=w1"#,
                        #"level=error msg="not published: below the quorum of witnesses" count=\#(count) size=7"#,
                    ]
                })
    }

    @Test func eachWitnessAndEachReasonHasALineOfItsOwn() {
        let desk = Desk()
        let witnesses = desk.witnesses
        for _ in 0..<3 {
            witnesses.note(.missing("w1", why: "unreachable"), size: 7)
            witnesses.note(.missing("w2", why: "unreachable"), size: 7)
            witnesses.note(.missing("w1", why: "timed_out"), size: 7)
        }
        #expect(desk.take().count == 3)
    }
}
