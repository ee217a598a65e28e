// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

/// What the call guide ("Key Rotation & Emergency Key Redistribution", "API endpoints involved in call lifecycle") names, as text.
struct GuidePathTests {
    private static let name = "000102030405060708090a0b0c0d0e0f"

    @Test func aCallIsStartedAndJoinedAtThePathsOfTheGuide() throws {
        let call = try #require(CallID(Array(0..<16)))
        let device = try #require(CallDevice([UInt8](repeating: 7, count: 32)))
        let paths: [(CallAct, String)] = [
            (.start(call, inviting: [device]), "/app/api/call/start"), (.join(call), "/app/api/call/\(Self.name)/join"),
            (.leave(call), "/app/api/call/\(Self.name)/leave"), (.end(call), "/app/api/call/\(Self.name)/end"),
            (.invite(call, [device]), "/app/api/call/\(Self.name)/invite"),
            (.remove(call, [device]), "/app/api/call/\(Self.name)/remove"),
        ]
        for (act, path) in paths {
            #expect(act.destination == Array(path.utf8))
            #expect(CallAct(destination: Array(path.utf8), body: act.body) == act)
        }
    }
}
