// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Platform

extension Channel {
    /// Whose process is at the other end of a Unix socket; nil if the system does not say.
    func peerUser() async -> UInt32? {
        guard let socket = self as? any SocketOptionProvider else { return nil }
        #if canImport(Darwin)
            // SOL_LOCAL is 0.
            let found: xucred? = try? await socket.unsafeGetSocketOption(
                level: NIOBSDSocket.OptionLevel(rawValue: 0), name: NIOBSDSocket.Option(rawValue: LOCAL_PEERCRED)
            ).get()
            return found.flatMap { $0.cr_version == XUCRED_VERSION ? $0.cr_uid : nil }
        #else
            let found: PeerCredentials? = try? await socket.unsafeGetSocketOption(
                level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
            ).get()
            return found?.user
        #endif
    }
}

#if !canImport(Darwin)
    /// `struct ucred` of Linux.
    private struct PeerCredentials: Sendable {
        let process: Int32
        let user: UInt32
        let group: UInt32
    }
#endif
