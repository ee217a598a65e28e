// SPDX-License-Identifier: Apache-2.0

extension ObjectFault: CustomStringConvertible {
    /// What an operator reads in a log, without credentials, addresses or objects.
    package var description: String {
        switch self {
        case .invalidPath: "a path that no object can have"
        case .unavailable(let reason): "away: \(reason)"
        case .refused(let reason): "refused, which a retry does not change: \(reason)"
        case .outcomeUnknown(let reason): "nobody knows whether it was written: \(reason)"
        case .tooLarge(let limit): "more than \(limit) bytes or entries"
        case .malformedAnswer: "an answer that the protocol does not have"
        case .contradiction(let path): "something else is at \(path)"
        }
    }
}

extension ObjectReason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .status(let status, let code): code.isEmpty ? "HTTP \(status)" : "HTTP \(status) \(code)"
        case .connection: "no connection, or TLS refused the other side"
        case .deadline: "no answer in time"
        case .disk(let code): "the disk: error \(code)"
        case .closed: "this process stops"
        }
    }
}
