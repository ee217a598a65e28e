// SPDX-License-Identifier: Apache-2.0

package import Meeting
import MulticastDNS
import NIOCore
import Synchronization

/// Answers who asks the network for this meeting, while the code is on the screen. Without it, or on a network that passes no
/// multicast on, the device is found by the addresses in the code alone.
package final class MeetingResponder: Sendable {
    private let sockets: [MulticastSocket]
    private let advert: MeetingAdvert

    /// Begins to answer on every device of the network where that is possible.
    package init(_ advert: MeetingAdvert) async {
        let limit = SharedLimit()
        var sockets: [MulticastSocket] = []
        for device in MulticastSocket.devices {
            let socket = await MulticastSocket.open(on: device, hearsAll: true) {
                MulticastHandler { query, sender in
                    let isDirect = sender.port != MulticastSocket.port
                    guard let answer = advert.answer(to: query, isDirect: isDirect), limit.take(isDirect: isDirect)
                    else { return nil }
                    return answer
                }
            }
            if let socket { sockets.append(socket) }
        }
        (self.sockets, self.advert) = (sockets, advert)
        for socket in sockets { await socket.say(advert.announcement) }
    }

    /// Says that nobody waits any more, and stops.
    package func close() async {
        for socket in sockets {
            await socket.say(advert.goodbye)
            await socket.close()
        }
    }
}

/// A limit for all sockets.
private final class SharedLimit: Sendable {
    private let limit = Mutex(AnswerLimit())

    func take(isDirect: Bool) -> Bool {
        let second = Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000_000)
        return limit.withLock { $0.take(isDirect: isDirect, in: second) }
    }
}
