// SPDX-License-Identifier: Apache-2.0

import NIOSSL
import Synchronization

/// The certificate and key that new connections get; both can change while the server runs.
package final class ServerTLS: Sendable {
    private struct Current: Sendable {
        var identity: TLSIdentity
        var context: NIOSSLContext
    }

    /// What clients would say of the certificate in the files.
    enum Files {
        /// They accept it.
        case usable
        /// It is valid only later, by this machine's clock.
        case early
        /// They refuse it, or it cannot be used.
        case refused
    }

    private let current: Mutex<Current>
    private let files = Mutex(Files.usable)
    private let hasNewestPins = Mutex(true)

    /// Begins with an identity.
    ///
    /// - Throws: ``TLSIdentityError``.
    package init(_ identity: TLSIdentity) throws(TLSIdentityError) {
        current = Mutex(Current(identity: identity, context: try identity.context()))
    }

    /// What a connection that begins now gets.
    var context: NIOSSLContext { current.withLock { $0.context } }

    /// When the certificate of new connections ends, in seconds since 1970; nil if it cannot be read.
    var certificateEnd: UInt64? { identity.end }

    /// Whether the next start can serve with what is in the files.
    var isUsableAfterStart: Bool { files.withLock { $0 != .refused } }

    /// Whether what is in the files is not valid yet by this machine's clock.
    var isEarly: Bool { files.withLock { $0 == .early } }

    /// Takes down whether what is in the files now can be served with.
    func judge(files found: Files) { files.withLock { $0 = found } }

    /// Whether clients are told of the key by the newest pins that the log shows.
    var isKnown: Bool { hasNewestPins.withLock { $0 } }

    /// Takes down whether the pins in the files are the newest that the log shows.
    func judge(pins areNewest: Bool) { hasNewestPins.withLock { $0 = areNewest } }

    /// What connections that begin now get.
    var identity: TLSIdentity { current.withLock { $0.identity } }

    /// Gives connections that begin from now on another identity. Those that stand keep theirs.
    ///
    /// - Returns: whether it is another one.
    /// - Throws: ``TLSIdentityError``: the one before stays.
    package func replace(with identity: TLSIdentity) throws(TLSIdentityError) -> Bool {
        guard current.withLock({ $0.identity != identity }) else { return false }
        let context = try identity.context()
        current.withLock { $0 = Current(identity: identity, context: context) }
        return true
    }
}
