// SPDX-License-Identifier: Apache-2.0

public import Meeting
import MeetingClient
import SignetClient

/// An invitation that is on the screen, while this device waits for whoever scans it. Only ``Account/invite(at:port:on:for:)`` makes one.
public actor OpenInvitation {
    /// What the screen shows.
    public nonisolated let invitation: MeetingInvitation
    /// The text that a QR code holds and a person may paste.
    public nonisolated var link: String { String(decoding: invitation.link, as: UTF8.self) }
    private var host: MeetingHost?
    private let listener: MeetingListener
    private let responder: MeetingResponder
    private let side: MeetingSide

    init(
        _ host: consuming MeetingHost, _ listener: MeetingListener, _ responder: MeetingResponder, _ side: MeetingSide
    ) {
        invitation = host.invitation
        self.host = consume host
        (self.listener, self.responder, self.side) = (listener, responder, side)
    }

    /// Waits for the device of somebody who has seen the invitation, and proves to it whose this device is. One may come.
    ///
    /// - Throws: ``SignetError``: `.meeting`.
    public func wait() async throws(SignetError) -> UnconfirmedMeeting {
        guard let host = host.take() else { throw .meeting(.over) }
        let now = side.account.surroundings.now()
        let guest: (link: MeetingLink, hello: [UInt8])
        do throws(MeetingLinkError) {
            let left = invitation.end > now ? invitation.end - now : 0
            guest = try await listener.guest(of: invitation, within: left)
        } catch {
            await close()
            throw .meeting(.link(error))
        }
        await responder.close()
        return try await side.receive(guest.hello, as: host, over: guest.link, at: side.account.surroundings.now())
    }

    /// Takes the invitation back.
    public func close() async {
        _ = host.take()
        await responder.close()
        await listener.close()
    }
}
