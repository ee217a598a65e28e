// SPDX-License-Identifier: Apache-2.0

import Meeting
import MulticastDNS
import NIOCore
import NIOPosix
import Synchronization

/// Asks the network where the device is that made an invitation.
enum MeetingFinder {
    /// When is asked, in milliseconds from the beginning: packets get lost.
    private static let times: [Int64] = [0, 250, 1000, 2500]
    private static let end: Int64 = 5000

    /// The places where the device may be, as they are told; it ends after five seconds, or when nobody can be asked.
    static func places(for invitation: MeetingInvitation) async -> AsyncStream<MeetingSearch.Place> {
        let (places, found) = AsyncStream.makeStream(of: MeetingSearch.Place.self)
        let id = UInt16.random(in: .min ... .max)
        let search = SharedSearch(for: invitation)
        var sockets: [MulticastSocket] = []
        for device in MulticastSocket.devices {
            let socket = await MulticastSocket.open(on: device, hearsAll: false) {
                MulticastHandler { answer, sender in
                    // RFC 6762, section 6.7: who answers, answers from the port of multicast DNS, with the asker's number.
                    guard sender.port == MulticastSocket.port, answer.id == id else { return nil }
                    for place in search.take(answer) { found.yield(place) }
                    return nil
                }
            }
            if let socket { sockets.append(socket) }
        }
        let query = search.query(id: id)
        guard let loop = sockets.first?.channel.eventLoop else {
            found.finish()
            return places
        }
        let asked = sockets
        for time in times {
            loop.scheduleTask(in: .milliseconds(time)) { Task { for socket in asked { await socket.say(query) } } }
        }
        loop.scheduleTask(in: .milliseconds(end)) { found.finish() }
        found.onTermination = { _ in Task { for socket in asked { await socket.close() } } }
        return places
    }
}

/// A search of which several sockets tell.
private final class SharedSearch: Sendable {
    private let search: Mutex<MeetingSearch>

    init(for invitation: MeetingInvitation) { search = Mutex(MeetingSearch(for: invitation)) }

    func query(id: UInt16) -> DNSMessage { search.withLock { $0.query(id: id) } }

    func take(_ answer: DNSMessage) -> [MeetingSearch.Place] { search.withLock { $0.take(answer) } }
}
