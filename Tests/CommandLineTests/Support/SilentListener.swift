// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform

/// A port that accepts connections and never answers.
final class SilentListener: Sendable {
    let port: Int
    private let socketNumber: Int32

    init(port wanted: UInt16 = 0) throws {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        socketNumber = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        address.sin_port = wanted.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = socketNumber
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(number, address, length) + listen(number, 8) + getsockname(number, address, &length)
            }
        }
        guard result == 0 else { throw CocoaError(.fileReadUnknown) }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(socketNumber) }

    /// Calls `body` once, when a client has connected.
    func onConnection(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [self] in
            let connection = accept(socketNumber, nil, nil)
            body()
            if connection >= 0 { close(connection) }
        }
    }
}
