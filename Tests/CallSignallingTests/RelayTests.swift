// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Testing

@testable import CallSignalling

struct RelayTests {
    private func verdict(_ bytes: [UInt8], _ device: CallDevice, _ call: CallID) -> Result<RelayRoute, RelayRefusal> {
        do throws(RelayRefusal) { return .success(try RelayRoute(bytes, from: device, in: call)) } catch {
            return .failure(error)
        }
    }

    @Test func aSignalGoesToAllMembersOrToOneInbox() throws {
        let cast = try Cast()
        let device = cast.host.device
        let toAll = try cast.host.sign(cast.content(.leave)).encoded
        let toOne = try cast.host.sign(cast.content(.leave, to: cast.member.device)).encoded
        #expect(verdict(toAll, device, cast.callID) == .success(.topic(cast.callID)))
        #expect(verdict(toOne, device, cast.callID) == .success(.inbox(cast.member.device)))
        #expect(
            RelayRoute.topic(cast.callID).destination
                == Array(("/topic/call." + String(repeating: "09", count: 16)).utf8))
        #expect(RelayRoute.inbox(cast.member.device).destination.count == 13 + 64)
    }

    @Test func aRelayPassesNothingElseOn() throws {
        let cast = try Cast()
        let bytes = try cast.host.sign(cast.content(.leave)).encoded
        let otherCall = try #require(CallID([UInt8](repeating: 1, count: 16)))
        #expect(verdict(bytes, cast.host.device, otherCall) == .failure(.anotherCall))
        #expect(verdict(bytes, cast.member.device, cast.callID) == .failure(.anotherSender))
        let forged = try cast.member.sign(cast.content(.leave)).encoded
        #expect(verdict(forged, cast.host.device, cast.callID) == .failure(.invalidSignature))
        #expect(
            verdict([1], cast.host.device, cast.callID)
                == .failure(.malformed(.malformed(.truncated(needed: 22, remaining: 1)))))
    }
}
