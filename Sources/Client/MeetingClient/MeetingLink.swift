// SPDX-License-Identifier: Apache-2.0

package import Meeting
import NIOCore
import NIOPosix

/// A connection between two devices that meet. It carries messages; who is at the other end, the messages prove.
package final class MeetingLink: Sendable {
    /// What one side may send.
    struct Limits {
        /// The longest message in bytes.
        let messageByteCount: Int
        /// The number of messages in all.
        let messageCount: Int

        static let beforeMeeting = Limits(messageByteCount: 1024, messageCount: 4)
        /// Two lists of all tokens in one message are nine frames; the longest exchange has 32.
        static let afterMeeting = Limits(messageByteCount: MeetingChannel.maximumFrameByteCount, messageCount: 64)
    }

    /// How long connecting to one address may take, and a message that no person has to wait for, in seconds.
    package static let seconds: Int64 = 10

    let channel: any Channel
    private let inbox: MeetingInbox

    /// To be made in a channel's initializer.
    init(_ channel: any Channel) throws {
        self.channel = channel
        inbox = MeetingInbox()
        try channel.pipeline.syncOperations.addHandler(inbox)
    }

    /// Connects to the device that made an invitation: at the first of its addresses where something answers, or where the network says
    /// that it is.
    ///
    /// - Throws: ``MeetingLinkError/unreachable``.
    package static func connect(to invitation: MeetingInvitation) async throws(MeetingLinkError) -> MeetingLink {
        let (attempts, end) = AsyncStream.makeStream(of: MeetingLink?.self)
        let ways =
            [
                { await byAddress(invitation) }, { await byMulticast(invitation) },
            ] as [@Sendable () async -> MeetingLink?]
        for way in ways {
            Task {
                let link = await way()
                guard let link, case .terminated = end.yield(link) else {
                    if link == nil { end.yield(nil) }
                    return
                }
                await link.close()
            }
        }
        var failures = 0
        for await attempt in attempts {
            if let attempt {
                end.finish()
                return attempt
            }
            failures += 1
            guard failures < ways.count else { break }
        }
        throw .unreachable
    }

    private static func byAddress(_ invitation: MeetingInvitation) async -> MeetingLink? {
        for address in invitation.addresses {
            if let link = try? await connect(to: address, port: invitation.port) { return link }
        }
        return nil
    }

    /// Who answers in the network may be anybody: the first device that answers as only the host can is found by the exchange, and a place
    /// where nothing listens is passed over.
    private static func byMulticast(_ invitation: MeetingInvitation) async -> MeetingLink? {
        for await place in await MeetingFinder.places(for: invitation) {
            if let link = try? await connect(to: place.address, port: place.port) { return link }
        }
        return nil
    }

    private static func connect(to address: MeetingAddress, port: UInt16) async throws -> MeetingLink {
        let socket = try SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: Int(port))
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(seconds))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(to: socket) { channel in channel.eventLoop.makeCompletedFuture { try MeetingLink(channel) } }
    }

    /// Sends a message.
    ///
    /// - Throws: ``MeetingLinkError/closed``.
    package func send(_ message: [UInt8]) async throws(MeetingLinkError) {
        var buffer = channel.allocator.buffer(capacity: message.count + 2)
        buffer.writeInteger(UInt16(truncatingIfNeeded: message.count))
        buffer.writeBytes(message)
        do { try await channel.writeAndFlush(buffer) } catch { throw .closed }
    }

    /// Sends a message, after which messages that came before can still be read.
    ///
    /// - Returns: why it was not sent; nil if it was.
    package func loss(of message: [UInt8]) async -> MeetingLinkError? {
        do throws(MeetingLinkError) { try await send(message) } catch { return error }
        return nil
    }

    /// Takes what two people give each other who have met: the other device has proved whose it is.
    package func expectGifts() { inbox.take(.afterMeeting) }

    /// Waits for the next message.
    ///
    /// - Throws: ``MeetingLinkError``: `timedOut`, `closed`, `tooMuch`.
    package func receive(within seconds: Int64 = MeetingLink.seconds) async throws(MeetingLinkError) -> [UInt8] {
        let alarm = channel.eventLoop.scheduleTask(in: .seconds(seconds)) { [inbox, channel] in
            inbox.end(.timedOut)
            channel.close(promise: nil)
        }
        defer { alarm.cancel() }
        return try await inbox.next().get()
    }

    /// Ends the connection after what was sent. The other side's end is waited for, two seconds at most: a socket that is closed with
    /// bytes unread takes back what it sent last.
    package func close() async {
        try? await channel.close(mode: .output)
        let alarm = channel.eventLoop.scheduleTask(in: .seconds(2)) { [channel] in channel.close(promise: nil) }
        try? await channel.closeFuture.get()
        alarm.cancel()
    }
}
