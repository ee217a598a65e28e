// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import NIOCore
import NIOPosix
import SignetAPI
import SignetClient
import SignetTesting
import Synchronization

/// A device at the relay of frames that sends the packets that a test gives it.
final class FrameGuest: Sendable {
    /// A relay's answer to a hello.
    enum Reception: Hashable, Sendable {
        case welcome(stay: UInt64)
        case refused
    }

    private let channel: any Channel
    private let received = ReceivedPackets()
    let key: RelayKey
    private let ticket: Mutex<(bytes: [UInt8], takenAt: ContinuousClock.Instant)>
    private let ask: @Sendable () async throws -> (port: UInt16, key: RelayKey, ticket: [UInt8])

    struct NotAdmitted: Error {}

    /// Asks the directory for a ticket, and opens a socket to the relay.
    init(_ call: CallID, _ client: Client<InMemoryStore>, as person: TestDevice) async throws {
        ask = {
            let bytes = try await client.call(CallRoute.relay, call.bytes, signedBy: person.secrets, mayRepeat: true)
            guard case .admitted(let port, let key, let ticket) = try RelayAdmission(decoding: bytes),
                let key = RelayKey(key)
            else { throw NotAdmitted() }
            return (port, key, ticket)
        }
        let (port, key, bytes) = try await ask()
        self.key = key
        ticket = Mutex((bytes, .now))
        let received = received
        channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PacketReader(received))
                }
            }
            .connect(host: "127.0.0.1", port: Int(port)).get()
    }

    /// Sends hello until the relay answers. A ticket is valid for two minutes, and renewed after one.
    func enter() async throws -> Reception {
        var cookie: UInt64 = 0
        if ticket.withLock({ $0.takenAt + .seconds(60) < .now }) {
            let renewed = try await ask().ticket
            ticket.withLock { $0 = (renewed, .now) }
        }
        let ticket = ticket.withLock { $0.bytes }
        while !Task.isCancelled {
            try await send(key.hello(cookie: cookie, ticket: ticket))
            switch await next(within: .milliseconds(300)) {
            case .challenge(let number): cookie = number
            case .welcome(let stay, _): return .welcome(stay: stay)
            case .refused: return .refused
            default: continue
            }
        }
        throw CancellationError()
    }

    func send(_ packet: RelayPacket) async throws {
        guard let address = channel.remoteAddress else { throw ChannelError.eof }
        try await channel.writeAndFlush(
            AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: packet.encoded)))
    }

    /// The next packet, if it arrives in time: a datagram may be lost.
    func next(within time: Duration) async -> RelayPacket? {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end, !Task.isCancelled {
            if let packet = received.first() { return packet }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return nil
    }

    func close() { channel.close(promise: nil) }
}

/// Packets in the order of their arrival. Unlike a stream, they do not end when a reader stops waiting for one.
private final class ReceivedPackets: Sendable {
    private let packets = Mutex<[RelayPacket]>([])

    func append(_ packet: RelayPacket) { packets.withLock { $0.append(packet) } }

    func first() -> RelayPacket? { packets.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

private final class PacketReader: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    private let packets: ReceivedPackets

    init(_ packets: ReceivedPackets) { self.packets = packets }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        RelayPacket(decoding: Array(unwrapInboundIn(data).data.readableBytesView)).map { packets.append($0) }
    }
}
