// SPDX-License-Identifier: Apache-2.0

/// A limit that a client ran into. The raw value is the label in the metrics.
package enum Limit: String, CaseIterable, Sendable {
    case connections
    case connectionsPerAddress = "connections_per_address"
    case connectionRate = "connection_rate"
    case proxyHeader = "proxy_header"
    case handshakeTime = "handshake_time"
    case headTime = "head_time"
    case bodyTime = "body_time"
    case answerTime = "answer_time"
    case idleTime = "idle_time"
    case bodySize = "body_size"
    case bodiesInFlight = "bodies_in_flight"
    case addressRate = "address_rate"
    case accountRate = "account_rate"
    case registrations
}
