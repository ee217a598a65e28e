import CallSignalling
import Foundation
import SignalClient
import SignetAPI
import SignetClient
import SignetServer
import Testing

/// The real `signetd`, with the limits it starts with, while one account does its worst.
@Suite(.serialized) struct FloodProcessTests {
    /// What an account may have at the relay is full with sixteen calls, whoever started them.
    @Test(.timeLimit(.minutes(3))) func theRelayHasSixteenRoomsForAnAccount() async throws {
        try await Self.serving { _, profile in
            let (eve, eves) = try await TestDevice.member("eve@example.org", at: profile)
            let (mallory, mallorys) = try await TestDevice.member("mallory@example.org", at: profile)
            let (first, second) = (try eve.client(profile), try mallory.client(profile))
            var guests: [FrameGuest] = []
            defer { for guest in guests { guest.close() } }
            var receptions: [FrameGuest.Reception] = []
            for number in 0..<17 {
                let call = TestDevice.call()
                let (starter, joiner, invited) = number < 16 ? (first, second, mallory) : (second, first, eve)
                try await starter.carryOut(.start(call, inviting: [invited.device]))
                try await joiner.carryOut(.join(call))
                // Who is silent for 15 s is out, and a busy machine may take as long.
                for guest in guests { #expect(try await guest.enter() != .refused) }
                guests.append(try await FrameGuest(call, eves, as: eve))
                receptions.append(try await guests[number].enter())
            }
            #expect(receptions.prefix(16).allSatisfy { $0 != .refused } && receptions.last == .refused)
            // A seventeenth call of its own there is not either.
            await #expect(throws: RelayClientError.refused(.tooManyCalls)) {
                try await first.carryOut(CallAct.start(TestDevice.call(), inviting: []))
            }
            // Whoever has less comes in.
            let call = TestDevice.call()
            try await second.carryOut(.start(call, inviting: []))
            guests.append(try await FrameGuest(call, mallorys, as: mallory))
            #expect(try await guests[17].enter() != .refused)
            await first.close()
            await second.close()
        }
    }

    private static func serving(_ body: (RelayDaemon, DirectoryProfile) async throws -> Void) async throws {
        try await withFolder { folder in
            let data = try await TestRelay.setUp(in: folder)
            let daemon = try await RelayDaemon(data)
            let profile = TestRelay.profile(try StoredDirectory.readProfile(data), port: daemon.port)
            do { try await body(daemon, profile) } catch {
                await daemon.kill()
                throw error
            }
            await daemon.kill()
        }
    }
}
