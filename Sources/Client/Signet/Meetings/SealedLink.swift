// SPDX-License-Identifier: Apache-2.0

import Meeting
import MeetingClient

/// A connection between two people who have met, on which everything is sealed.
final actor SealedLink {
    private let link: MeetingLink
    private var channel: MeetingChannel

    init(_ link: MeetingLink, _ channel: consuming MeetingChannel) {
        self.link = link
        self.channel = channel
    }

    func send(_ message: [UInt8]) async throws {
        for frame in try channel.frames(of: message) { try await link.send(frame) }
    }

    func receive() async throws -> [UInt8] {
        while true {
            let frame = try await link.receive()
            if let message = try channel.receive(frame) { return message }
        }
    }
}
