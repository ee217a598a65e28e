// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Who is at the other end of a connection, as limits count it: known when the connection is accepted, or once a proxy has said it.
package final class ConnectionClient: Sendable {
    private struct State {
        var address: ClientAddress
        /// For whom the connection is counted; nil if for no single client.
        var counted: ClientAddress?
    }

    private let state: Mutex<State>
    private let proxies: TrustedProxies?

    /// A client that is known from the start, and counted.
    package init(_ address: ClientAddress) {
        state = Mutex(State(address: address, counted: address))
        proxies = nil
    }

    /// A proxy, which will say whose connection it passes on, and which is not counted as a client.
    ///
    /// - Parameter proxies: nil if it says so once, when the connection begins; or those who name the client of each request.
    package init(proxyAt address: ClientAddress, naming proxies: TrustedProxies?) {
        state = Mutex(State(address: address, counted: nil))
        self.proxies = proxies
    }

    /// Whether each request on the connection may be another client's.
    package var isShared: Bool { proxies != nil }

    /// For whom the connection is counted; nil if for no single client.
    package var counted: ClientAddress? { state.withLock { $0.counted } }

    /// The address of the connection's client.
    package var address: ClientAddress { state.withLock { $0.address } }

    /// The proxy has said who it is, and the connection is counted for that address.
    package func name(_ address: ClientAddress) {
        state.withLock { $0 = State(address: address, counted: address) }
    }

    /// Who sends a request.
    ///
    /// - Parameter values: gives the values of the request's header fields `X-Forwarded-For`, in their order.
    /// - Returns: nil if the connection is a proxy's, and the proxy does not say it.
    package func sender(_ values: () -> [String]) -> ClientAddress? {
        guard let proxies else { return address }
        return proxies.client(forwardedFor: values()).map { ClientAddress($0) }
    }
}
