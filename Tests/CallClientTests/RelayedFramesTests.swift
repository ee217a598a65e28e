import CallSignalling
import FrameRelay
import Testing

@testable import CallClient

/// Frames through the relay.
struct RelayedFramesTests {
    @Test(.timeLimit(.minutes(2))) func framesGoThroughTheRelay() async throws {
        let relay = try await RelayServer.start(host: "127.0.0.1", port: 0)
        var generator = SystemRandomNumberGenerator()
        let call = CallID(using: &generator)
        let devices = try (1...2 as ClosedRange<UInt8>).map {
            try #require(CallDevice([UInt8](repeating: $0, count: 32)))
        }
        let good = try devices.map {
            RelayedFrames.Admission(
                host: "127.0.0.1", port: relay.port, key: try #require(RelayKey(relay.sessionKey(of: $0, in: call))),
                ticket: relay.ticket(for: $0, of: 1, in: call))
        }
        let one = try await RelayedFrames.open(good[0]) { nil }
        let two = try await RelayedFrames.open(good[1]) { nil }
        let speaking = Task {
            while !Task.isCancelled {
                one.send([1, 2, 3])
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        let alias = MemberAlias(of: devices[0], in: call)
        #expect(await two.incoming.first { _ in true } == ArrivedFrame([1, 2, 3], carriedFor: alias))
        speaking.cancel()
        // What is sealed for one comes as such, also between frames.
        let sealing = Task {
            while !Task.isCancelled {
                two.send([7], to: alias)
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        let from = MemberAlias(of: devices[1], in: call)
        #expect(await one.incoming.first { _ in true } == ArrivedFrame([7], carriedFor: from, isSealed: true))
        sealing.cancel()
        await one.close()
        await two.close()
        await relay.close()
    }
}
