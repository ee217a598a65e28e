// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Why there is no answer of a witness. All may be gone at the next try.
public enum WitnessFailure: Error, Hashable, Sendable {
    /// No such host, or nothing answers there.
    case unreachable
    /// It took too long.
    case timedOut
    /// The connection did not become a TLS connection with a host of that name whose certificate is vouched for.
    case notSecured
    /// The connection ended before the answer did.
    case closedEarly
    /// Not HTTP/1.1.
    case malformedResponse
    /// The answer is longer than any honest one.
    case answerTooLong

    /// What an error of the network library means.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as WitnessFailure: error
            case is NIOConnectionError: .unreachable
            case ChannelError.connectTimeout: .timedOut
            case let error as NIOSSLError:
                if case .uncleanShutdown = error { .closedEarly } else { .notSecured }
            case is NIOSSLExtraError: .notSecured
            case let error as HTTPParserError: error == .invalidEOFState ? .closedEarly : .malformedResponse
            default: .closedEarly
            }
    }
}
