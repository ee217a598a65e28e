// SPDX-License-Identifier: Apache-2.0

import SignetTesting
import Testing

@Suite struct BadNetworkTests {
    @Test func delaysAndLossesFollowTheSettings_andRepeatForTheSameSeed() {
        let (network, again) = (Self.network, Self.network)
        let delays = (0..<10_000).map { _ in network.nextDelay() }
        #expect(delays == (0..<10_000).map { _ in again.nextDelay() })
        let lost = delays.count { $0 == nil }
        #expect((400...600).contains(lost))
        #expect(delays.compactMap(\.self).allSatisfy { $0 >= .milliseconds(20) && $0 <= .milliseconds(80) })
    }

    private static var network: BadNetwork { BadNetwork(loss: 0.05, latency: 20, jitter: 60, seed: 3) }

    @Test func aNetworkIsReadFromFourNumbers() {
        #expect(BadNetwork("0.05,20,60,1") != nil)
        for text in ["", "0.05,20,60", "0.05,20,60,1,2", "1.5,20,60,1", "x,20,60,1", "0,10001,0,1", "0,0,10001,1"] {
            #expect(BadNetwork(text) == nil, "\(text)")
        }
    }
}
