// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

extension TransportError {
    /// The error for a user that corresponds to an error of the network library.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as TransportError: error
            case let error as NIOConnectionError: Self.connection(error)
            case let error as NIOSSLError: Self.tls(error)
            case let error as NIOSSLExtraError: Self.tls(error)
            case is NIOHTTP2Errors.StreamClosed, is NIOHTTP2Errors.IOOnClosedConnection,
                is NIOHTTP2Errors.CreatedStreamAfterGoaway:
                .closedEarly
            case let error as NIOHTTP2Errors.StreamError: Self(error.baseError)
            case let error as HTTPParserError: error == .invalidEOFState ? .closedEarly : .malformedResponse
            case ChannelError.connectTimeout: .timedOut(.connecting)
            case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof: .closedEarly
            case is CancellationError: .closedEarly
            case is IOError: .closedEarly
            default: .unknown
            }
    }

    /// Whether the connection itself remains usable.
    var concernsOneAnswer: Bool {
        switch self {
        case .tooLong, .unexpectedMediaType: true
        default: false
        }
    }

    private static func connection(_ error: NIOConnectionError) -> TransportError {
        if error.connectionErrors.isEmpty { return .nameNotFound }
        let timedOut = error.connectionErrors.contains {
            if case ChannelError.connectTimeout = $0.error { true } else { false }
        }
        return timedOut ? .timedOut(.connecting) : .unreachable
    }

    /// Refusals of chains never arrive here, because ``ConnectionJudge`` keeps them.
    private static func tls(_ error: NIOSSLError) -> TransportError {
        switch error {
        case .uncleanShutdown: .closedEarly
        case .handshakeFailed(.sslError([.eofDuringHandshake])),
            .handshakeFailed(.sslError([.eofDuringAdditionalCertficiateChainValidation])):
            .closedInHandshake
        default: .handshakeFailed
        }
    }

    private static func tls(_ error: NIOSSLExtraError) -> TransportError {
        switch error {
        case .failedToValidateHostname, .serverHostnameImpossibleToMatch: .handshakeFailed
        default: .invalidAddress
        }
    }
}
