/// How long each wait of a connection may last.
public struct ConnectionDeadlines: Hashable, Sendable {
    /// For TCP.
    public let connect: Duration
    /// For TLS.
    public let handshake: Duration
    /// Between two pieces of the answer, and before the first.
    public let idle: Duration
    /// For the whole answer.
    public let response: Duration

    /// Deadlines.
    public init(connect: Duration, handshake: Duration, idle: Duration, response: Duration) {
        self.connect = connect
        self.handshake = handshake
        self.idle = idle
        self.response = response
    }

    /// 10 s to connect, 10 s to shake hands, 20 s of silence, 60 s in all.
    public static let standard = ConnectionDeadlines(
        connect: .seconds(10), handshake: .seconds(10), idle: .seconds(20), response: .seconds(60))
}
