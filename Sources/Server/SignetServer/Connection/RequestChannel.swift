// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import NIOCore

/// What a request came on: a connection of HTTP/1.1, or a stream of one of HTTP/2.
struct RequestChannel: Sendable {
    let channel: any Channel
    /// Whose connection it is.
    let client: ConnectionClient
    let isStream: Bool

    /// The connection that may become one of another protocol; nil: none may.
    var upgradable: (any Channel)? { isStream ? nil : channel }
}
