// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import SignetServer

/// A connection gets the tasks that answer requests when one of these needs them, and not before.
@Suite struct FirstWantTests {
    private enum Need: CaseIterable { case request, event, error, end }
    private struct Fault: Error {}

    @Test(arguments: Need.allCases) private func eachNeedIsNoticed(_ need: Need) throws {
        let loop = EmbeddedEventLoop()
        let want = loop.makePromise(of: Void.self)
        let isWanted = Atomic(false)
        want.futureResult.whenSuccess { isWanted.store(true, ordering: .relaxed) }
        let channel = EmbeddedChannel(handler: FirstWantHandler(want), loop: loop)
        loop.run()
        let isWantedBefore = isWanted.load(ordering: .relaxed)
        #expect(!isWantedBefore)
        switch need {
        case .request: try channel.writeInbound("a request")
        case .event: channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        case .error: channel.pipeline.fireErrorCaught(Fault())
        case .end: _ = try channel.finish()
        }
        loop.run()
        let isWantedAfter = isWanted.load(ordering: .relaxed)
        #expect(isWantedAfter)
        if need == .error { #expect(throws: Fault.self) { try channel.throwIfErrorCaught() } }
    }
}
