// SPDX-License-Identifier: Apache-2.0

import Foundation
package import PostgresStores
import Synchronization

/// Stands between libpq and a server, reads the messages of both, and cuts or keeps back where a test says so.
///
/// Spec: PostgreSQL 15, 55.7 Message Formats.
package final class CuttingProxy: Sendable {
    /// One message of the protocol.
    package struct Message: Sendable {
        package let isFromServer: Bool
        /// Its type, such as `Q`; nil for the first of a connection, which has none.
        package let type: Character?
        /// What follows the length.
        let body: [UInt8]

        /// The first string in it: the text of a simple query, or the tag of a command that was done.
        package var words: String { String(decoding: body.prefix { $0 != 0 }, as: UTF8.self) }

        /// Whether the client asks for a command by a simple query.
        package func asks(for command: String) -> Bool { !isFromServer && type == "Q" && words == command }

        /// Whether the server says that a command is done, by its tag.
        package func ends(_ tag: String) -> Bool { isFromServer && type == "C" && words.hasPrefix(tag) }
    }

    /// What happens to a message.
    package enum Action: Sendable {
        case pass
        /// It and all later ones of this side are lost; the connection stays.
        case withhold
        /// The connection ends on both sides, and the message is lost.
        case cut
    }

    /// Through it.
    package let address: PostgresAddress
    private let listener: ProxySocket
    private let rule = ProxyRule()

    init(before server: PostgresServer, at address: PostgresAddress, number: Int) throws {
        let folder = "\(server.socketFolder)/p\(number)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        listener = try ProxySocket(listeningAt: folder + "/.s.PGSQL.5432")
        self.address = try address.host(folder)
        let target = server.socketFolder + "/.s.PGSQL.5432"
        Thread.detachNewThread { [listener, rule] in
            while let client = listener.accepted() {
                guard let server = try? ProxySocket(connectingTo: target) else { continue }
                ProxyRule.carry(client, server, rule)
            }
        }
    }

    deinit { listener.end() }

    /// From now on, messages are treated so.
    package func decide(_ decision: @escaping @Sendable (Message) -> Action) {
        rule.decision.withLock { $0 = decision }
    }

    /// From now on, everything passes.
    package func pass() { decide { _ in .pass } }
}

/// What a proxy does at the moment.
private final class ProxyRule: Sendable {
    let decision = Mutex<@Sendable (CuttingProxy.Message) -> CuttingProxy.Action>({ _ in .pass })

    /// Carries the messages of a connection, on two threads of its own.
    static func carry(_ client: ProxySocket, _ server: ProxySocket, _ rule: ProxyRule) {
        Thread.detachNewThread { rule.pump(client, server, isFromServer: false) }
        Thread.detachNewThread { rule.pump(server, client, isFromServer: true) }
    }

    private func pump(_ source: ProxySocket, _ target: ProxySocket, isFromServer: Bool) {
        var (hasType, isSilent) = (isFromServer, false)
        while let message = source.message(hasType: hasType, isFromServer: isFromServer) {
            hasType = true
            let action = isSilent ? .withhold : decision.withLock(\.self)(message)
            if action == .cut { break }
            isSilent = action == .withhold
            guard isSilent || target.send(message) else { break }
        }
        source.end()
        target.end()
    }
}

/// A Unix socket, closed with the last reference to it.
private final class ProxySocket: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    init(listeningAt path: String) throws {
        descriptor = Self.made()
        guard Self.at(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 16) == 0 else {
            throw PostgresLab.Failure(description: "no socket at \(path)")
        }
    }

    init(connectingTo path: String) throws {
        descriptor = Self.made()
        guard Self.at(path, { connect(descriptor, $0, $1) }) == 0 else {
            throw PostgresLab.Failure(description: "nobody at \(path)")
        }
    }

    deinit { close(descriptor) }

    /// The next connection; nil at the end.
    func accepted() -> ProxySocket? {
        let new = accept(descriptor, nil, nil)
        return new < 0 ? nil : ProxySocket(new)
    }

    /// Ends it for both sides; whoever reads from it is woken.
    func end() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The next message; nil at the end.
    func message(hasType: Bool, isFromServer: Bool) -> CuttingProxy.Message? {
        var type: Character?
        if hasType {
            guard let byte = bytes(1)?.first else { return nil }
            type = Character(UnicodeScalar(byte))
        }
        guard let length = bytes(4)?.reduce(0, { $0 << 8 | Int($1) }), length >= 4, let body = bytes(length - 4) else {
            return nil
        }
        return CuttingProxy.Message(isFromServer: isFromServer, type: type, body: body)
    }

    func send(_ message: CuttingProxy.Message) -> Bool {
        let length = UInt32(message.body.count + 4)
        let head = withUnsafeBytes(of: length.bigEndian) { Array($0) }
        let all = (message.type?.utf8).map(Array.init) ?? []
        return sendAll(all + head + message.body)
    }

    private func bytes(_ count: Int) -> [UInt8]? {
        var all = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = all.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress?.advanced(by: done), count - done, 0)
            }
            guard read > 0 else { return nil }
            done += read
        }
        return all
    }

    private func sendAll(_ bytes: [UInt8]) -> Bool {
        #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        var done = 0
        while done < bytes.count {
            let sent = bytes.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done, flags)
            }
            guard sent > 0 else { return false }
            done += sent
        }
        return true
    }

    private static func made() -> Int32 {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        return socket(AF_UNIX, kind, 0)
    }

    private static func at(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
