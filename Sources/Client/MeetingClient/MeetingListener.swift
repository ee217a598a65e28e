// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
package import Meeting
import NIOCore
import NIOPosix

/// Waits for the guest of a meeting, at a port that is open only while the invitation is on the screen.
///
/// Strangers who connect are heard for ten seconds each and use nothing up: what they send shows that they have not seen the invitation. They
/// are counted, in total and for each address, so that many of them do not keep the guest out.
package final class MeetingListener: Sendable {
    /// Where it listens, at most as many addresses as an invitation has.
    package let addresses: [MeetingAddress]
    /// The port, the same at all addresses.
    package let port: UInt16
    private let channels: [any Channel]
    private let links: AsyncStream<MeetingLink>
    private let arrive: AsyncStream<MeetingLink>.Continuation

    /// Listens.
    ///
    /// - Parameters:
    ///   - wanted: at which addresses; if there are none, at this machine's own, except its loopback addresses.
    ///   - port: 0 for any free one.
    /// - Throws: ``MeetingLinkError``: `noAddress`, `cannotListen`.
    package init(at wanted: [MeetingAddress], port: UInt16) async throws(MeetingLinkError) {
        let all = (wanted.isEmpty ? MeetingAddress.ofThisMachine : wanted).prefix(MeetingInvitation.maximumAddressCount)
        guard let first = all.first else { throw .noAddress }
        let (links, arrive) = AsyncStream.makeStream(of: MeetingLink.self)
        let ledger = ConnectionLedger(total: 64, perAddress: 4)
        let channel = try await Self.listen(at: first, port, ledger, arrive)
        guard let found = channel.localAddress?.port.flatMap(UInt16.init(exactly:)) else { throw .cannotListen }
        var (addresses, channels) = ([first], [channel])
        for address in all.dropFirst() {
            // One address is enough; another program may have the port at the second.
            guard let channel = try? await Self.listen(at: address, found, ledger, arrive) else { continue }
            addresses.append(address)
            channels.append(channel)
        }
        (self.addresses, self.port, self.channels, self.links, self.arrive) = (
            addresses, found, channels, links, arrive
        )
    }

    private static func listen(
        at address: MeetingAddress, _ port: UInt16, _ ledger: ConnectionLedger,
        _ arrive: AsyncStream<MeetingLink>.Continuation
    ) async throws(MeetingLinkError) -> any Channel {
        do {
            let socket = try SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: Int(port))
            return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { child in
                    child.eventLoop.makeCompletedFuture {
                        let client = ClientAddress(child.remoteAddress)
                        guard ledger.open(client) == nil else { throw TooManyConnections() }
                        child.closeFuture.whenComplete { _ in ledger.close(client) }
                        arrive.yield(try MeetingLink(child))
                    }
                }
                .bind(to: socket).get()
        } catch { throw .cannotListen }
    }

    /// Waits for the first who has seen the invitation; then nobody else is let in.
    ///
    /// - Parameter seconds: for how long.
    /// - Returns: the connection, and the first message.
    /// - Throws: ``MeetingLinkError/nobodyCame``.
    package func guest(
        of invitation: MeetingInvitation, within seconds: UInt64
    ) async throws(MeetingLinkError) -> (link: MeetingLink, hello: [UInt8]) {
        let (guests, found) = AsyncStream.makeStream(of: (link: MeetingLink, hello: [UInt8]).self)
        let alarm = channels[0].eventLoop.scheduleTask(in: .seconds(Int64(clamping: seconds))) { found.finish() }
        let hearing = Task { [links] in
            for await link in links {
                Task {
                    let hello = try? await link.receive()
                    guard let hello, invitation.isAnswered(by: hello), case .enqueued = found.yield((link, hello))
                    else {
                        return await link.close()
                    }
                }
            }
            // The invitation was taken back, or somebody has come.
            found.finish()
        }
        defer {
            alarm.cancel()
            hearing.cancel()
            found.finish()
        }
        for await guest in guests {
            await close()
            return guest
        }
        throw .nobodyCame
    }

    /// Stops listening. A connection that stands goes on.
    package func close() async {
        arrive.finish()
        for channel in channels { try? await channel.close() }
    }
}
