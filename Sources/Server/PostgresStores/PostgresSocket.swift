// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Foundation

/// Waiting for a socket, and making a connection.
enum PostgresSocket {
    /// Waits until something can be read or written.
    ///
    /// - Returns: false if the deadline came first, if all was cut off, or if there is no socket.
    static func wait(
        _ descriptor: Int32, _ events: Int16, _ deadline: ContinuousClock.Instant?, _ cutOff: PostgresCutOff? = nil
    ) -> Bool {
        guard descriptor >= 0 else { return false }
        while true {
            // One that is less than 0 is passed over.
            var requests = [
                pollfd(fd: descriptor, events: events, revents: 0),
                pollfd(fd: cutOff?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&requests, nfds_t(requests.count), milliseconds(until: deadline))
            if count < 0 && errno == EINTR { continue }
            return count > 0 && requests[1].revents == 0
        }
    }

    /// -1: for ever.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let rest = deadline - ContinuousClock.now
        guard rest > .zero else { return 0 }
        return Int32(clamping: Int64(rest / .milliseconds(1)) + 1)
    }

    /// What is said of a host that did not answer before the deadline.
    static let silence = "no answer in time"

    /// Makes a connection to one host. Its name is looked up without a deadline, and all its addresses share the time.
    ///
    /// - Throws: the words of libpq, or ``silence``.
    static func connect(
        _ parameters: [String: String], _ deadline: ContinuousClock.Instant, _ cutOff: PostgresCutOff? = nil
    ) throws(PostgresFailure)
        -> OpaquePointer
    {
        guard cutOff?.isCut != true else { throw PostgresFailure(isLost: true, words: silence) }
        guard let handle = start(parameters) else { throw PostgresFailure(isLost: true, words: "not enough memory") }
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        if PQstatus(handle) != CONNECTION_BAD, finish(handle, deadline, cutOff), PQsetnonblocking(handle, 1) == 0 {
            PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
            return handle
        }
        defer { PQfinish(handle) }
        guard PQstatus(handle) == CONNECTION_BAD else {
            throw PostgresFailure(isLost: true, words: silence)
        }
        throw PostgresFailure(connecting: String(cString: PQerrorMessage(handle)))
    }

    private static func start(_ parameters: [String: String]) -> OpaquePointer? {
        let texts = parameters.map { (strdup($0.key), strdup($0.value)) }
        defer { for text in texts { (free(text.0), free(text.1)) } }
        let keys = texts.map { UnsafePointer($0.0) } + [nil]
        let values = texts.map { UnsafePointer($0.1) } + [nil]
        return PQconnectStartParams(keys, values, 0)
    }

    private static func finish(
        _ handle: OpaquePointer, _ deadline: ContinuousClock.Instant, _ cutOff: PostgresCutOff?
    ) -> Bool {
        var state = PGRES_POLLING_WRITING
        while true {
            switch state {
            case PGRES_POLLING_OK: return true
            case PGRES_POLLING_READING:
                guard wait(PQsocket(handle), Int16(POLLIN), deadline, cutOff) else { return false }
            case PGRES_POLLING_WRITING:
                guard wait(PQsocket(handle), Int16(POLLOUT), deadline, cutOff) else { return false }
            default: return false
            }
            state = PQconnectPoll(handle)
        }
    }
}
