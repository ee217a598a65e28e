// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConnectionLimits

/// `https://host[:port]`, as the directory file wants it.
struct ServerURL {
    let text: String
    let host: String

    init(_ text: String) throws {
        let scheme = "https://"
        guard text.hasPrefix(scheme), let address = SocketName(String(text.dropFirst(scheme.count)), defaultPort: 443)
        else { throw ValidationError("--url: https://host or https://host:port, with nothing after it") }
        self.text = text
        host = address.host
    }
}

/// `host`, `host:port` or `[address]:port`. An IPv6 address has brackets: without them its end could as well be a port.
struct SocketName {
    let host: String
    let port: Int

    /// Whether only this machine can connect to it.
    var isLoopback: Bool {
        host == "localhost" || IPAddress(text: host).map { ClientAddress($0).isLoopback } ?? false
    }

    init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    init?(_ text: String, defaultPort: Int) {
        var host = text[...]
        var port = defaultPort
        let mayHavePort = text.hasPrefix("[") || text.filter { $0 == ":" }.count == 1
        if mayHavePort, !text.hasSuffix("]"), let colon = text.lastIndex(of: ":") {
            guard let number = UInt16(text[text.index(after: colon)...]) else { return nil }
            port = Int(number)
            host = text[..<colon]
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        let allowed = host.utf8.allSatisfy { byte in
            (0x30...0x3A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x2E
        }
        guard !host.isEmpty, allowed else { return nil }
        guard host.contains(":") ? isBracketed && IPAddress(text: host) != nil : !isBracketed else { return nil }
        self.host = String(host)
        self.port = port
    }
}
