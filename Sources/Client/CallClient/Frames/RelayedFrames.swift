// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import NIOCore
import NIOPosix
import Synchronization

/// Frames through a relay, over UDP. It says hello until it is admitted, and again every few seconds, so that the relay
/// and any network devices in between know its address (``RelayGreeting``).
///
/// A socket keeps the address that this device had when it was opened. Where the relay does not answer, another one is opened: the
/// device may have come into another network. With the same ticket the relay takes it for the same member, so the call goes on
/// without a new join.
public final class RelayedFrames: CallFrames {
    /// Where the relay is, and what lets this device in.
    public struct Admission: Sendable {
        /// The relay's name or address.
        public let host: String
        /// Its UDP port.
        public let port: Int
        /// The key of this device's packets.
        public let key: RelayKey
        /// The ticket, bytes that only the relay reads.
        public let ticket: [UInt8]

        /// An admission.
        public init(host: String, port: Int, key: RelayKey, ticket: [UInt8]) {
            (self.host, self.port, self.key, self.ticket) = (host, port, key, ticket)
        }
    }

    private struct State {
        var ticket: [UInt8]
        var key: RelayKey
        var cookie: UInt64 = 0
        /// The number of this stay; nil while the relay has not let this device in.
        var stay: UInt64?
        var isRefused = false
        /// What has come from the relay since the last tick.
        var heard = RelayGreeting.Heard.nothing
        var greeting = RelayGreeting()
    }

    /// Encrypted frames of the others. For one reader.
    public let incoming: AsyncStream<ArrivedFrame>
    private let deliver: AsyncStream<ArrivedFrame>.Continuation
    private let packets: PacketReader
    private let channel: Mutex<any Channel>
    private let address: SocketAddress
    private let state: Mutex<State>
    private let tasks = Mutex<[Task<Void, Never>]>([])

    private init(_ channel: any Channel, _ address: SocketAddress, _ packets: PacketReader, _ admission: Admission) {
        self.channel = Mutex(channel)
        self.packets = packets
        self.address = address
        state = Mutex(State(ticket: admission.ticket, key: admission.key))
        (incoming, deliver) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4096))
        packets.take { [weak self] in self?.receive($0) }
    }

    /// Opens a socket to a relay, and begins to say hello.
    ///
    /// - Parameter renew: gets another admission, asked every minute; nil if there is none now.
    /// - Throws: ``CallFramesError/noSocket``.
    public static func open(
        _ admission: Admission, renew: @escaping @Sendable () async -> Admission?
    ) async throws(CallFramesError) -> RelayedFrames {
        try await open(admission, renewingAfter: 600, renew: renew)
    }

    /// - Parameter ticks: of 100 ms.
    static func open(
        _ admission: Admission, renewingAfter ticks: Int, renew: @escaping @Sendable () async -> Admission?
    ) async throws(CallFramesError) -> RelayedFrames {
        let reader = PacketReader()
        let frames: RelayedFrames
        do {
            let address = try SocketAddress.makeAddressResolvingHost(admission.host, port: admission.port)
            frames = RelayedFrames(try await socket(to: address, reader), address, reader, admission)
        } catch { throw .noSocket }
        frames.greet(ticks, renew)
        return frames
    }

    private static func socket(to address: SocketAddress, _ reader: PacketReader) async throws -> any Channel {
        try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PacketHandler(reader))
                }
            }
            .connect(to: address).get()
    }

    /// Sends an encrypted frame; before the relay has let this device in, it is lost.
    public func send(_ frame: [UInt8]) {
        let (key, stay) = state.withLock { ($0.key, $0.stay) }
        guard let stay, frame.count <= RelayPacket.maximumFrameByteCount else { return }
        write(key.frame(frame, stay))
    }

    /// Sends something sealed to one other; before the relay has let this device in, it is lost.
    public func send(_ packet: [UInt8], to alias: MemberAlias) {
        let (key, stay) = state.withLock { ($0.key, $0.stay) }
        guard let stay, packet.count <= RelayPacket.maximumFrameByteCount else { return }
        write(key.sealed(packet, to: alias, stay))
    }

    /// Says farewell, and closes the socket.
    public func close() async {
        for task in tasks.withLock({ $0 }) { task.cancel() }
        let (key, stay) = state.withLock { ($0.key, $0.stay) }
        if let stay { write(key.farewell(stay)) }
        try? await channel.withLock { $0 }.close().get()
        deliver.finish()
    }

    private func greet(_ renewal: Int, _ renew: @escaping @Sendable () async -> Admission?) {
        let greets = Task { [weak self] in
            while !Task.isCancelled, let self {
                let step = self.tick()
                if step.opensSocket { await self.openAnew() }
                if step.saysHello { self.hello() }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        // A task of its own: without a network, a request for a ticket may take long to fail, and hellos must not wait for it.
        let renews = Task { [weak self] in
            var ticks = 0
            while !Task.isCancelled, let self {
                try? await Task.sleep(for: .milliseconds(100))
                ticks += 1
                // Two seconds after a refusal, too: the relay may have started again, and has another key.
                guard ticks >= (self.state.withLock { $0.isRefused } ? 20 : renewal) else { continue }
                ticks = 0
                if let admission = await renew() { self.take(admission) }
            }
        }
        tasks.withLock { $0 = [greets, renews] }
    }

    private func tick() -> RelayGreeting.Step {
        state.withLock { state in
            defer { state.heard = .nothing }
            return state.greeting.tick(state.heard, isAdmitted: state.stay != nil && !state.isRefused)
        }
    }

    /// Opens another socket, from this device's current address. Without a network that fails, and the old one stays.
    private func openAnew() async {
        guard let next = try? await Self.socket(to: address, packets) else { return }
        let last = channel.withLock { channel in
            defer { channel = next }
            return channel
        }
        try? await last.close().get()
        // If this was closed in the meantime, only the previous socket was closed.
        if Task.isCancelled { try? await next.close().get() }
    }

    /// The relay has to hear of another key at once: until then it passes nothing on that has a code under it.
    private func take(_ admission: Admission) {
        state.withLock { state in
            (state.ticket, state.key) = (admission.ticket, admission.key)
            // What was heard under the former key answers nothing.
            state.heard = .nothing
            state.greeting.ask()
        }
        hello()
    }

    private func hello() {
        let (cookie, key, ticket) = state.withLock { ($0.cookie, $0.key, $0.ticket) }
        write(key.hello(cookie: cookie, ticket: ticket))
    }

    private func receive(_ packet: RelayPacket) {
        switch packet {
        case .challenge(let cookie):
            state.withLock { state in
                state.cookie = cookie
                state.heard = max(state.heard, .word)
            }
            hello()
        case .welcome(let stay, _): takeIn(packet, stay)
        // A refusal is not authenticated: it makes this device ask again, and silences no device.
        case .refused:
            state.withLock { state in
                state.isRefused = true
                state.heard = max(state.heard, .word)
            }
        case .relayed(let alias, _, let frame):
            if isGenuine(packet) { deliver.yield(ArrivedFrame(frame, carriedFor: alias)) }
        case .relayedSealed(let alias, _, let bytes):
            if isGenuine(packet) { deliver.yield(ArrivedFrame(bytes, carriedFor: alias, isSealed: true)) }
        case .hello, .frame, .farewell, .sealed: break
        }
    }

    /// Whether the relay made a packet for this stay.
    private func isGenuine(_ packet: RelayPacket) -> Bool {
        state.withLock { state in
            let isGenuine = state.stay.map { state.key.made(packet, in: $0) } ?? false
            if isGenuine { state.heard = .frame }
            return isGenuine
        }
    }

    private func takeIn(_ welcome: RelayPacket, _ stay: UInt64) {
        state.withLock { state in
            guard state.key.made(welcome, in: stay) else { return }
            state.stay = stay
            state.isRefused = false
            state.heard = max(state.heard, .answer)
        }
    }

    private func write(_ packet: RelayPacket) {
        channel.withLock { $0 }.writeAndFlush(
            AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: packet.encoded)), promise: nil)
    }
}

/// Why frames cannot be relayed.
public enum CallFramesError: Error, Hashable, Sendable {
    /// The relay's name has no address, or no socket could be made.
    case noSocket
}

/// Delivers packets once there is a receiver.
private final class PacketReader: Sendable {
    private let reader = Mutex<(@Sendable (RelayPacket) -> Void)?>(nil)

    func take(_ read: @escaping @Sendable (RelayPacket) -> Void) { reader.withLock { $0 = read } }

    func receive(_ packet: RelayPacket) { reader.withLock { $0 }?(packet) }
}

private final class PacketHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    private let reader: PacketReader

    init(_ reader: PacketReader) { self.reader = reader }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data).data.readableBytesView
        if let packet = RelayPacket(decoding: Array(bytes)) { reader.receive(packet) }
    }

    /// An unreachable relay is asked again at the next hello.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
