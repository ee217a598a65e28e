import CallSignalling
import NIOCore
import NIOPosix
import Testing

@testable import FrameRelay

/// The relay on a real socket.
struct SocketTests {
    @Test(.timeLimit(.minutes(2))) func framesCrossARealSocket() async throws {
        let relay = try await RelayServer.start(host: "127.0.0.1", port: 0)
        let call = try #require(CallID([UInt8](repeating: 1, count: 16)))
        var guests: [Guest] = []
        for number in 1...2 as ClosedRange<UInt8> {
            let device = try #require(CallDevice([UInt8](repeating: number, count: 32)))
            let guest = try await Guest(to: relay.port)
            try await guest.enter(with: relay.ticket(for: device, in: call))
            guests.append(guest)
        }
        // A datagram may be lost even here; nothing else is sent, so that the first to arrive is the one.
        var heard: RelayPacket?
        while heard == nil {
            try await guests[0].send(.frame([1, 2, 3]))
            heard = await guests[1].next(within: .milliseconds(200))
        }
        #expect(heard == .frame([1, 2, 3]))
        for guest in guests { await guest.close() }
        await relay.close()
    }
}

/// A device with a socket.
private final class Guest {
    private let channel: any Channel
    private let received: AsyncStream<RelayPacket>

    init(to port: Int) async throws {
        let (received, packets) = AsyncStream.makeStream(of: RelayPacket.self)
        self.received = received
        channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader(packets))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    func send(_ packet: RelayPacket) async throws {
        let address = try #require(channel.remoteAddress)
        try await channel.writeAndFlush(
            AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: packet.encoded)))
    }

    func next(within time: Duration) async -> RelayPacket? {
        let received = received
        return await withTaskGroup(of: RelayPacket?.self) { group in
            group.addTask { await received.first { _ in true } }
            group.addTask {
                try? await Task.sleep(for: time)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    func enter(with ticket: [UInt8]) async throws {
        var cookie: UInt64 = 0
        while true {
            try await send(.hello(cookie: cookie, ticket: ticket))
            switch await next(within: .milliseconds(200)) {
            case .challenge(let number): cookie = number
            case .welcome: return
            default: break
            }
        }
    }

    func close() async { try? await channel.close() }
}

private final class Reader: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    private let packets: AsyncStream<RelayPacket>.Continuation

    init(_ packets: AsyncStream<RelayPacket>.Continuation) { self.packets = packets }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        RelayPacket(decoding: Array(unwrapInboundIn(data).data.readableBytesView)).map { _ = packets.yield($0) }
    }
}
