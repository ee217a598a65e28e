// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignetServer

/// When the log tells of a change of TLS keys.
struct SharedPinsTests {
    private static let time: UInt64 = 1_800_000_000

    /// A client that has been told refuses every front end that has the key of before.
    @Test func severalMachinesHaveTimeToGetTheFilesOfAChange() {
        func mayTell(_ version: UInt64, after seconds: UInt64, isShared: Bool) -> Bool {
            PinsAnswering.mayTell(version: version, of: Self.time, isShared: isShared, at: Self.time + seconds)
        }
        #expect(!mayTell(2, after: 0, isShared: true) && !mayTell(2, after: 599, isShared: true))
        #expect(mayTell(2, after: 600, isShared: true))
        #expect(mayTell(1, after: 0, isShared: true), "there are no pins of before")
        #expect(mayTell(2, after: 0, isShared: false), "a server of one machine has them")
    }
}
