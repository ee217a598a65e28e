// SPDX-License-Identifier: Apache-2.0

/// Why a store of objects did not do what it was asked. Nothing was changed, but for ``outcomeUnknown(_:)``.
package enum ObjectFault: Error, Hashable, Sendable {
    /// Not a path of ``ObjectPath``, or one that leads through another object, which a folder of files cannot have.
    case invalidPath
    /// The store is away, busy, slow or full. A retry may help.
    case unavailable(ObjectReason)
    /// The store refuses: the address, the credentials, the clock or the configuration is wrong. A retry does not help.
    case refused(ObjectReason)
    /// No answer that says whether the write took effect. It may also take effect later.
    case outcomeUnknown(ObjectReason)
    /// The object or the list is larger than this many bytes or entries, which is what the caller allows.
    case tooLarge(limit: Int)
    /// The store answers what its protocol does not allow.
    case malformedAnswer
    /// Other bytes are at this path, which was to have one content for ever. They were left there.
    case contradiction(path: String)
}

/// What a store, the network or the disk said. It holds nothing of credentials, addresses or objects.
package enum ObjectReason: Hashable, Sendable {
    /// An HTTP status, and the store's own code for the error, such as `SlowDown`; empty if it sent none.
    case status(Int, code: String)
    /// There is no connection, it ended, or TLS did not accept the other side.
    case connection
    /// The answer was not there in time.
    case deadline
    /// The `errno` of a call to the disk.
    case disk(code: Int32)
    /// This process has ended its connections, and asks nothing any more.
    case closed
}

extension ObjectFault {
    /// Whether the same write, with the same condition, may be tried again.
    package var isPassing: Bool {
        switch self {
        case .unavailable, .outcomeUnknown: true
        case .invalidPath, .refused, .tooLarge, .malformedAnswer, .contradiction: false
        }
    }
}
