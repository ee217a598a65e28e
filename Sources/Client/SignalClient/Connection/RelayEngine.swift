// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
public import STOMP

/// What carries signals from device to device: the broker in `signetd`, or RabbitMQ with its Web-STOMP plug-in.
///
/// All that differs between them for a client is on this page.
///
/// Security: RabbitMQ does not know who may be in a call, and lets anyone who has its password read everything. That
/// reveals no secret, because secrets are wrapped for devices and signals are signed; it shows who calls whom.
public enum RelayEngine: Hashable, Sendable {
    /// `signetd`.
    case signet
    /// RabbitMQ, with a user, a password and a virtual host, as bytes of UTF-8.
    case rabbitMQ(login: [UInt8], passcode: [UInt8], virtualHost: [UInt8] = [UInt8(ascii: "/")])

    /// The path of the WebSocket.
    public var path: String {
        switch self {
        case .signet: RelayAddress.path
        case .rabbitMQ: "/ws"
        }
    }

    /// Whether the request for the WebSocket is signed by the device.
    public var knowsDevices: Bool { self == .signet }

    /// Headers of CONNECT.
    ///
    /// - Parameter host: the server's name, ASCII.
    public func connectHeaders(host: String) -> [StompHeader] {
        switch self {
        case .signet: [StompHeader(.host, Array(host.utf8))]
        case .rabbitMQ(let login, let passcode, let virtualHost):
            [StompHeader(.host, virtualHost), StompHeader(.login, login), StompHeader(.passcode, passcode)]
        }
    }

    /// Headers of SEND beside the destination, which is ``CallSignalling/RelayRoute/destination`` for both.
    ///
    /// - Parameter lifetime: how long the signal may wait in an inbox, in milliseconds; nil for as long as the engine lets it.
    public func sendHeaders(to route: RelayRoute, lifetime: UInt64? = nil) -> [StompHeader] {
        var headers: [StompHeader] = []
        if let lifetime { headers.append(StompHeader("expiration", Array(String(lifetime).utf8))) }
        if case (.rabbitMQ, .inbox) = (self, route) { headers.append(StompHeader("persistent", Array("true".utf8))) }
        return headers
    }

    /// The destination of an act about a call; nil if the engine keeps no list of calls, and nothing is to be said.
    public func destination(of act: CallAct) -> [UInt8]? { knowsDevices ? act.destination : nil }
}
