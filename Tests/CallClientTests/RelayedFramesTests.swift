// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import FrameRelay
import NIOCore
import NIOPosix
import Testing

@testable import CallClient

/// Frames through the relay.
struct RelayedFramesTests {
    private let call: CallID
    private let devices: [CallDevice]

    init() throws {
        var generator = SystemRandomNumberGenerator()
        call = CallID(using: &generator)
        devices = try (1...2 as ClosedRange<UInt8>).map {
            try #require(CallDevice([UInt8](repeating: $0, count: 32)))
        }
    }

    private func admission(_ device: CallDevice, to relay: RelayServer, port: Int) throws -> RelayedFrames.Admission {
        RelayedFrames.Admission(
            host: "127.0.0.1", port: port, key: try #require(RelayKey(relay.sessionKey(of: device, in: call))),
            ticket: relay.ticket(for: device, of: 1, in: call))
    }

    /// Both send numbered frames, until the task is cancelled.
    private func speak(_ one: RelayedFrames, _ other: RelayedFrames) -> Task<Void, Never> {
        Task {
            for number in 0... {
                if Task.isCancelled { break }
                let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
                one.send([1] + bytes)
                other.send([2] + bytes)
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    @Test(.timeLimit(.minutes(2))) func framesGoThroughTheRelay() async throws {
        let relay = try await RelayServer.start(host: "127.0.0.1", port: 0)
        let one = try await RelayedFrames.open(admission(devices[0], to: relay, port: relay.port)) { nil }
        let two = try await RelayedFrames.open(admission(devices[1], to: relay, port: relay.port)) { nil }
        let speaking = Task {
            while !Task.isCancelled {
                one.send([1, 2, 3])
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
        let alias = MemberAlias(of: devices[0], in: call)
        #expect(await two.incoming.first { _ in true } == ArrivedFrame([1, 2, 3], carriedFor: alias))
        speaking.cancel()
        // A packet sealed for one member arrives as sealed, also between frames.
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

    /// A device moves to another network: its earlier address no longer works. It keeps its place in the call.
    @Test(.timeLimit(.minutes(2))) func aDeviceWithANewAddressContinuesWithoutJoiningAgain() async throws {
        let relay = try await RelayServer.start(host: "127.0.0.1", port: 0)
        let network = try await ChangingNetwork.open(to: relay.port)
        let moving = try await RelayedFrames.open(admission(devices[0], to: relay, port: network.port)) { nil }
        let other = try await RelayedFrames.open(admission(devices[1], to: relay, port: relay.port)) { nil }
        let speaking = speak(moving, other)
        let alias = MemberAlias(of: devices[0], in: call)
        for _ in 0..<2 {
            #expect(await other.incoming.first { _ in true }?.carriedFor == alias)
            #expect(await moving.incoming.first { _ in true } != nil)
            let last = await other.incoming.first { _ in true }?.bytes
            try await network.change()
            // Packets that were under way may still arrive: each side must hear one that was sent later.
            #expect(await other.incoming.first { $0.bytes.number > (last?.number ?? 0) + 50 }?.carriedFor == alias)
            #expect(await moving.incoming.first { $0.bytes.number > (last?.number ?? 0) + 50 } != nil)
        }
        speaking.cancel()
        await moving.close()
        await other.close()
        await network.close()
        await relay.close()
    }

    /// The front ends change their secret during a call: the next tickets are under another one than those by which the devices came.
    @Test(.timeLimit(.minutes(2))) func aCallGoesOnUnderTheNextSecretOfTheFrontEnds() async throws {
        let secrets = [SymmetricKey(size: .bits256), SymmetricKey(size: .bits256)]
        let shared = secrets.map { SharedTickets(sealing: $0, accepted: { secrets }, date: { 1_800_000_000_000 }) }
        let relay = try await RelayServer.start(host: "127.0.0.1", port: 0, sharing: shared[0])
        let issuers = shared.map { TicketKey($0) }
        let end: UInt64 = 1_800_000_060_000
        let admissions = try issuers.enumerated().map { number, issuer in
            try devices.map {
                RelayedFrames.Admission(
                    host: "127.0.0.1", port: relay.port,
                    key: try #require(RelayKey(issuer.sessionKey(of: $0, in: call))),
                    ticket: issuer.ticket(for: $0, of: 1, in: call, until: end + UInt64(number)))
            }
        }
        let (renewed, hasRenewed) = AsyncStream.makeStream(of: Void.self)
        let one = try await RelayedFrames.open(admissions[0][0], renewingAfter: 5) {
            hasRenewed.yield()
            return admissions[1][0]
        }
        let other = try await RelayedFrames.open(admissions[0][1]) { nil }
        let speaking = speak(one, other)
        for await _ in renewed.prefix(2) {}
        let last = await other.incoming.first { _ in true }?.bytes.number ?? 0
        #expect(await other.incoming.first { $0.bytes.number > last + 50 } != nil)
        #expect(await one.incoming.first { $0.bytes.number > last + 50 } != nil)
        speaking.cancel()
        await one.close()
        await other.close()
        await relay.close()
    }

    /// An attacker sends from the relay's address, without the device's key.
    @Test(.timeLimit(.minutes(2))) func packetsWithoutTheDevicesRelayKeyAreDropped() async throws {
        let key = try #require(RelayKey([UInt8](repeating: 1, count: RelayKey.byteCount)))
        let alias = try #require(MemberAlias([1, 2, 3, 4, 5, 6, 7, 8]))
        let relay = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Sayer([
                            .welcome(stay: 3, code: 0), key.relayed([66], of: alias, 3),
                            key.welcome(4), .relayed(from: alias, code: 0, [67]),
                            .relayedSealed(from: alias, code: 0, [68]), key.relayed([69], of: alias, 3),
                            key.relayed([1], of: alias, 4),
                        ]))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(relay.localAddress?.port)
        let frames = try await RelayedFrames.open(.init(host: "127.0.0.1", port: port, key: key, ticket: [1])) { nil }
        #expect(await frames.incoming.first { _ in true } == ArrivedFrame([1], carriedFor: alias))
        await frames.close()
        try await relay.close()
    }
}

/// Sends the same packets in answer to every hello.
private final class Sayer: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>
    private let packets: [RelayPacket]

    init(_ packets: [RelayPacket]) { self.packets = packets }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for packet in packets {
            let bytes = ByteBuffer(bytes: packet.encoded)
            context.write(
                wrapOutboundOut(AddressedEnvelope(remoteAddress: unwrapInboundIn(data).remoteAddress, data: bytes)),
                promise: nil)
        }
        context.flush()
    }
}

extension [UInt8] {
    /// Bytes 1 to 4 as a number.
    fileprivate var number: Int { dropFirst().reversed().reduce(0) { $0 << 8 | Int($1) } }
}
