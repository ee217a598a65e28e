// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Platform
import SignetAPI
import SignetServer

/// Where `signetd run` listens: `host:port`, or `unix:` and the path of a socket.
enum ListenAddress {
    case network(SocketName)
    case path(String)

    private static let scheme = "unix:"

    /// - Throws: `ValidationError`.
    init(typed text: String) throws {
        guard text.hasPrefix(Self.scheme) else {
            guard let name = SocketName(text, defaultPort: Self.usualPort) else {
                throw ValidationError(
                    "--bind: host:port, such as 127.0.0.1:8443 or [::1]:8443, or unix:/path/of/a/socket")
            }
            self = .network(name)
            return
        }
        let path = String(text.dropFirst(Self.scheme.count))
        guard path.hasPrefix("/"), !path.hasSuffix("/") else {
            throw ValidationError(
                "--bind: behind unix: there must be the whole path of a socket, such as /run/signet/server.socket")
        }
        guard path.utf8.count <= LocalSocket.maximumPathByteCount else {
            throw ValidationError(
                "--bind: the path of a Unix socket has at most \(LocalSocket.maximumPathByteCount) bytes, and this one "
                    + "\(path.utf8.count); choose a shorter one, such as /run/signet/server.socket")
        }
        self = .path(path)
    }

    /// On this machine, on the port that the URL of the directory file names.
    ///
    /// A URL without a port stands for 443, which only root may use; there a proxy listens.
    init(of data: DataDirectory) {
        let bytes = FileManager.default.contents(atPath: data.profile)
        let url = bytes.flatMap { try? DirectoryProfile(decoding: Array($0)) }?.url
        let name = url.flatMap { SocketName(String($0.trimmingPrefix("https://")), defaultPort: Self.usualPort) }
        self = .network(SocketName(host: "127.0.0.1", port: name?.port ?? Self.usualPort))
    }

    static let usualPort = 8443
}
