// SPDX-License-Identifier: Apache-2.0

package import ConnectionLimits
import NIOCore

/// What clients of a site may take of it.
package struct SiteLimits: Sendable {
    /// Open connections, over all clients.
    package var connections: Int
    /// Open connections of one address.
    package var connectionsPerAddress: Int
    /// New connections of one address, each of which costs a handshake: on average, per second; 0 for any number.
    package var connectionsPerSecond: UInt32 = 20
    /// The same at once, after a pause long enough.
    package var connectionBurst: UInt32 = 200
    /// How long each wait may be. A connection has one request.
    package var times = ConnectionProgress.Times(
        handshake: .seconds(10), firstHead: .seconds(10), idle: .seconds(10), body: .seconds(10), answer: .seconds(30))

    /// Nanoseconds of a clock that does not go back.
    package var uptime: @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }

    /// The limits that a site starts with: half of the files that its process may have open are for connections, at most
    /// 1,024, and no address has more than a sixteenth of these, or four.
    package init() {
        connections = OpenFiles.half(atMost: 1024)
        connectionsPerAddress = max(4, connections / 16)
    }

    /// Addresses whose rate is remembered; the longest unseen is forgotten first.
    static let rememberedClients = 65_536
}
