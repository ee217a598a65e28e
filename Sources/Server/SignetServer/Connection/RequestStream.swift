// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import NIOCore
import Synchronization

/// A stream of HTTP/2 until its request is answered.
///
/// NIO ends the process for an asynchronous channel that is let go of. A connection whose task is cancelled lets go of the streams
/// that its client opens meanwhile; they are closed here.
final class RequestStream: Sendable {
    private let channel: Mutex<HTTP1Channel.Value?>

    init(_ channel: HTTP1Channel.Value) { self.channel = Mutex(channel) }

    deinit {
        guard let channel = take() else { return }
        Task { try? await channel.executeThenClose { _, _ in } }
    }

    /// The channel, once.
    func take() -> HTTP1Channel.Value? {
        channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
    }
}
