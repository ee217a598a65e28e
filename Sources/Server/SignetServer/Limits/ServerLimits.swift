// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import SignetAPI

/// What one client, and all of them together, may take of the server.
public struct ServerLimits: Hashable, Sendable {
    /// Open connections, over all clients.
    public var connections = 4096
    /// Open connections of one address.
    public var connectionsPerAddress = 256
    /// From the accepted connection to the end of the TLS handshake.
    public var handshake = Duration.seconds(10)
    /// From the end of the handshake to the end of the first request's headers, however they drip in.
    public var firstHead = Duration.seconds(10)
    /// From the end of an answer to the end of the next request's headers.
    public var idle = Duration.seconds(60)
    /// From the end of a request's headers to the end of its body.
    public var body = Duration.seconds(15)
    /// From the end of a request to the last byte of its answer taken by the client's TCP.
    public var answer = Duration.seconds(30)
    /// All header fields of a request, and its path, each in bytes.
    public var headerByteCount = 16_384
    /// The number of header fields of a request.
    public var headerCount = 64
    /// The body of a request, in bytes.
    public var bodyByteCount = Route.maximumRequestByteCount
    /// Bodies longer than ``bodyByteCount`` that are read or worked on at once, over all clients, in bytes.
    public var bodiesInFlight = 256 << 20
    /// Those of one address.
    public var bodiesInFlightPerAddress = 32 << 20
    /// New connections of one address, each of which costs a handshake.
    public var connectionRate = RequestRate(perSecond: 100, burst: 400)
    /// Requests of one address.
    public var addressRate = RequestRate(perSecond: 100, burst: 400)
    /// Signed requests of one account.
    public var accountRate = RequestRate(perSecond: 10, burst: 60)
    /// New accounts of one site's network, which stay for good: at once, and after how many seconds each comes back.
    public var registrations = LoginLimits.Rate(burst: 512, secondsPerAttempt: 10)
    /// Addresses, and accounts, whose rate is remembered; the longest unseen is forgotten first.
    public var rememberedClients = 65_536
    /// How long requests in progress may take to end once the server is told to stop.
    public var drain = Duration.seconds(20)

    /// The limits `signetd` starts with.
    public init() {}
}

/// How many requests a client may make: on average, and at once.
public struct RequestRate: Hashable, Sendable {
    /// On average, per second; 0 for any number.
    public var perSecond: UInt32
    /// At once, after a pause long enough.
    public var burst: UInt32

    /// Any number of requests.
    public static let unlimited = RequestRate(perSecond: 0, burst: 0)

    /// A rate.
    public init(perSecond: UInt32, burst: UInt32) {
        self.perSecond = perSecond
        self.burst = burst
    }
}

extension ConnectionProgress.Times {
    init(_ limits: ServerLimits) {
        self.init(
            handshake: limits.handshake, firstHead: limits.firstHead, idle: limits.idle, body: limits.body,
            answer: limits.answer)
    }
}
