// SPDX-License-Identifier: Apache-2.0

import Foundation
package import PostgresStores
import Synchronization

/// A port of the loopback interface at which nobody gets into a database: what is there refuses, or takes connections and says nothing.
///
/// Spec: PostgreSQL 15, 55.2.1 Start-up, 55.2.10 SSL Session Encryption and 55.8 Error and Notice Message Fields.
package final class ShutHost: Sendable {
    /// The number of the port.
    package let port: UInt16
    /// Something for each connection that was taken.
    package let arrivals: AsyncStream<Void>
    private let report: AsyncStream<Void>.Continuation
    private let listener: Int32
    /// Of connections to which nothing is said.
    private let held = Mutex<[Int32]>([])

    /// - Parameter state: the SQLSTATE with which it refuses, as a server does that has no TLS; nil: it says nothing.
    package init(refusing state: String?) throws {
        (arrivals, report) = AsyncStream.makeStream(of: Void.self)
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let listener = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let size = length
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw PostgresLab.Failure(description: "no port of the loopback interface") }
        (self.listener, port) = (listener, UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let host = self else { return _ = close(listener) }
                host.take(client, state)
            }
        }
    }

    deinit {
        // Whoever accepts is woken, and closes it.
        _ = shutdown(listener, Int32(SHUT_RDWR))
        for client in held.withLock(\.self) { close(client) }
    }

    /// As a user and for a database that nobody has.
    package func address(_ more: String = "sslmode=disable") throws -> PostgresAddress {
        try PostgresAddress("host=127.0.0.1 port=\(port) user=nobody dbname=none gssencmode=disable \(more)")
    }

    private func take(_ client: Int32, _ state: String?) {
        report.yield()
        guard let state else { return held.withLock { $0.append(client) } }
        // The number in place of a version that asks for TLS.
        while let version = Self.beginning(of: client) {
            guard version != 80_877_103 else {
                Self.send(Array("N".utf8), to: client)
                continue
            }
            Self.send(Self.refusal(state), to: client)
            break
        }
        close(client)
    }

    /// Reads the first message of a connection, and gives the version in it.
    private static func beginning(of client: Int32) -> UInt32? {
        guard let length = bytes(4, of: client).map(number), (8...10_000).contains(length) else { return nil }
        return bytes(Int(length) - 4, of: client).map { number($0.prefix(4)) }
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func refusal(_ state: String) -> [UInt8] {
        let fields = "SFATAL\0VFATAL\0C\(state)\0Mnot you\0Fauth.c\0L1\0Rauth_failed\0\0"
        let length = UInt32(fields.utf8.count + 4)
        return Array("E".utf8) + withUnsafeBytes(of: length.bigEndian) { Array($0) } + Array(fields.utf8)
    }

    private static func bytes(_ count: Int, of client: Int32) -> [UInt8]? {
        var all = [UInt8](repeating: 0, count: count)
        let read = recv(client, &all, count, Int32(MSG_WAITALL))
        return read == count ? all : nil
    }

    private static func send(_ bytes: [UInt8], to client: Int32) {
        #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        _ = Foundation.send(client, bytes, bytes.count, flags)
    }
}
