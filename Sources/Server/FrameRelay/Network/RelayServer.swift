// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import NIOCore
import NIOPosix

/// Passes the frames of a call on to all others in it, over UDP. It can open none of them.
public final class RelayServer: Sendable {
    /// The UDP port at which it listens.
    public let port: Int
    /// What devices may take.
    public let limits: RelayLimits
    private let channel: any Channel
    private let tickets: TicketKey
    private let handler: NIOLoopBound<RelayHandler>

    private init(
        _ channel: any Channel, _ handler: NIOLoopBound<RelayHandler>, _ tickets: TicketKey, _ limits: RelayLimits,
        port: Int
    ) {
        self.channel = channel
        self.handler = handler
        self.tickets = tickets
        self.limits = limits
        self.port = port
    }

    /// Listens.
    ///
    /// - Parameters:
    ///   - host: the address, a name or a number.
    ///   - port: the port; 0 for any.
    /// - Throws: ``RelayStartError``.
    public static func start(
        host: String, port: Int, limits: RelayLimits = RelayLimits()
    ) async throws(RelayStartError) -> RelayServer {
        try await start(host: host, port: port, limits: limits, delay: nil, isConniving: false)
    }

    /// A relay that accepts the tickets of other front ends, as they accept its own.
    ///
    /// - Throws: ``RelayStartError``.
    package static func start(
        host: String, port: Int, limits: RelayLimits = RelayLimits(), sharing tickets: SharedTickets?
    ) async throws(RelayStartError) -> RelayServer {
        try await start(
            host: host, port: port, limits: limits, delay: nil, isConniving: false,
            tickets.map { TicketKey($0) } ?? TicketKey())
    }

    /// A relay behind a bad network, for tests.
    ///
    /// - Parameter delay: called for each frame that the relay passes on.
    package static func start(
        host: String, port: Int, delay: @escaping FrameDelay
    ) async throws(RelayStartError) -> RelayServer {
        try await start(host: host, port: port, limits: RelayLimits(), delay: delay, isConniving: false)
    }

    /// A relay that passes on a member's frames in any name that this member chooses: for tests.
    package static func startConniving(host: String, port: Int) async throws(RelayStartError) -> RelayServer {
        try await start(host: host, port: port, limits: RelayLimits(), delay: nil, isConniving: true)
    }

    private static func start(
        host: String, port: Int, limits: RelayLimits, delay: FrameDelay?, isConniving: Bool,
        _ tickets: TicketKey = TicketKey()
    ) async throws(RelayStartError) -> RelayServer {
        let bootstrap = DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        RelayHandler(limits, tickets, delay, isConniving: isConniving))
                }
            }
        do {
            let channel = try await bootstrap.bind(host: host, port: port).get()
            let handler = try await channel.eventLoop.submit {
                NIOLoopBound(
                    try channel.pipeline.syncOperations.handler(type: RelayHandler.self), eventLoop: channel.eventLoop)
            }.get()
            return RelayServer(channel, handler, tickets, limits, port: channel.localAddress?.port ?? 0)
        } catch { throw .cannotListen }
    }

    /// Until when a ticket of now is good. To be asked for before it is asked whether the device is a member: it may leave meanwhile.
    package func ticketEnd() -> UInt64 { tickets.time(at: RelayHandler.uptime()) + limits.ticketTime }

    /// The ticket that admits a device to a call. The keeper of the calls says that the device is a member.
    ///
    /// - Parameter end: from ``ticketEnd()``.
    package func ticket(for device: CallDevice, of account: Int64, in call: CallID, until end: UInt64) -> [UInt8] {
        tickets.ticket(for: device, of: account, in: call, until: end)
    }

    /// The same of now.
    public func ticket(for device: CallDevice, of account: Int64, in call: CallID) -> [UInt8] {
        ticket(for: device, of: account, in: call, until: ticketEnd())
    }

    /// The key of a device's packets in a call, 16 bytes: to be given to the device alone, over a connection that it trusts.
    public func sessionKey(of device: CallDevice, in call: CallID) -> [UInt8] {
        tickets.sessionKey(of: device, in: call)
    }

    /// A device is in a call no more: what it sends is not passed on, and its tickets are worth nothing.
    public func end(_ device: CallDevice, in call: CallID) {
        channel.eventLoop.execute { [handler] in handler.value.end(RelayPlace(call: call, device: device)) }
    }

    /// Stops.
    public func close() async { try? await channel.close().get() }
}

/// How long the relay delays a frame; nil if the frame is lost.
package typealias FrameDelay = @Sendable () -> Duration?

/// Why a relay did not start.
public enum RelayStartError: Error, Hashable, Sendable {
    /// The address is in use, or is not one of this machine.
    case cannotListen
}
