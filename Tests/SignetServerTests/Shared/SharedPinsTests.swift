// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignetServer

/// When the log tells of a change of TLS keys.
struct SharedPinsTests {
    private static let time: UInt64 = 1_800_000_000

    /// A client that has been told refuses every front end that has the key of before.
    @Test func severalMachinesHaveTimeToGetTheFilesOfAChange() {
        func mayTell(after seconds: UInt64) -> Bool {
            PinsAnswering.mayTell(of: Self.time, at: Self.time + seconds)
        }
        #expect(!mayTell(after: 0) && !mayTell(after: 599))
        #expect(mayTell(after: 600))
    }
}
