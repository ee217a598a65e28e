// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import SignetServer

/// To which of the relays of several front ends the devices of a call are sent.
@Suite struct RelayChoiceTests {
    @Test func allDevicesOfACallAreSentToOneRelay_andCallsToAll() throws {
        let ports: [UInt16] = [8443, 8444, 8445]
        var found: Set<UInt16> = []
        for number in 0..<100 as Range<UInt8> {
            let bytes = [UInt8](repeating: 7, count: 15) + [number]
            let call = try #require(CallID(bytes))
            let port = try #require(CallAnswering.port(of: call, among: ports))
            #expect(CallAnswering.port(of: call, among: ports) == port)
            found.insert(port)
        }
        #expect(found == Set(ports))
        let call = try #require(CallID([UInt8](repeating: 7, count: 16)))
        #expect(CallAnswering.port(of: call, among: []) == nil)
    }
}
