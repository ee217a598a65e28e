// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import PinnedHTTP
import STOMP
public import SignetAPI
public import SignetClient

/// Why a signal is not known to have arrived, or a subscription has ended.
public enum RelayClientError: Error, Hashable, Sendable {
    /// The relay refuses it. A retry cannot help.
    case refused(RelayFault)
    /// The relay refuses it and gives no reason that we know.
    case refusedOtherwise
    /// The relay did not confirm it in time. It may have arrived.
    case timedOut
    /// More waits to be confirmed, or to be read, than may.
    case tooMuch
    /// The client was closed.
    case closed
    /// There is no connection, and trying again cannot help; or this one try failed.
    case connection(StompConnectionError)
    /// The directory does not let this device connect, and says why, with an HTTP status.
    case denied(ErrorCode, status: Int)
    /// The request for a connection was not signed.
    case keystore(KeystoreError)

    /// Whether another try may go better.
    var isPassing: Bool {
        switch self {
        case .connection(.transport(.notUpgraded(let status))), .denied(_, let status): status == 429 || status >= 500
        case .connection(.transport(let error)): error.family == .environment
        case .connection(.silent), .connection(.closed), .connection(.refused): true
        case .connection, .keystore, .closed: false
        case .refused, .refusedOtherwise, .timedOut, .tooMuch: true
        }
    }

    /// The answer to a request for a WebSocket that is refused.
    init(refusal response: TransportResponse) {
        self =
            response.refusal.map { .denied($0, status: response.status) }
            ?? .connection(.transport(.notUpgraded(status: response.status)))
    }

    /// What an ERROR frame says.
    init(_ error: StompFrame) {
        let word = error.value(of: .message).map { String(decoding: $0, as: UTF8.self) } ?? ""
        self = RelayFault(rawValue: word).map { .refused($0) } ?? .refusedOtherwise
    }
}
