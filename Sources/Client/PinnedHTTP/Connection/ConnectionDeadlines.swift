// SPDX-License-Identifier: Apache-2.0

/// How long each wait on a connection may last.
public struct ConnectionDeadlines: Hashable, Sendable {
    /// The deadline for connecting with TCP.
    public let connect: Duration
    /// The deadline for the TLS handshake.
    public let handshake: Duration
    /// The longest wait between two pieces of the answer, and before the first; before the first,
    /// ``TransportRequest/longestWait`` is added.
    public let idle: Duration
    /// The deadline for the whole answer; ``TransportRequest/longestWait`` is added.
    public let response: Duration

    /// Makes deadlines.
    public init(connect: Duration, handshake: Duration, idle: Duration, response: Duration) {
        self.connect = connect
        self.handshake = handshake
        self.idle = idle
        self.response = response
    }

    /// 10 s to connect, 10 s for the handshake, 20 s of silence, 60 s in total.
    public static let standard = ConnectionDeadlines(
        connect: .seconds(10), handshake: .seconds(10), idle: .seconds(20), response: .seconds(60))
}
