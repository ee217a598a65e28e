// SPDX-License-Identifier: Apache-2.0

import NIOSSL
import Platform

/// Where the RabbitMQ is over which the front ends of a directory carry signals, and as whom: a file that only its owner can read, the same on
/// each machine.
///
/// One line for each, a name, a space, and the rest:
/// ```
/// address    host:port of its STOMP listener with TLS, such as rabbit.example.org:61614
/// login      a user that may read and write the exchange amq.topic, and make queues
/// passcode   the user's password
/// vhost      the virtual host; / if left out
/// authority  a file of certificates in PEM of which the broker's is to be, or its own; the system's if left out
/// ```
package struct BrokerFile: Hashable, Sendable {
    private enum Name: String, CaseIterable {
        case address, login, passcode, vhost, authority
    }

    /// A name or a number.
    let host: String
    let port: Int
    let login: String
    let passcode: String
    let virtualHost: String
    /// A path.
    let authority: String?

    /// Reads a file.
    ///
    /// - Throws: ``BrokerFileError``.
    package init(at path: String) throws(BrokerFileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor), status.isFile else { throw .unreadable }
        guard !status.isOpenToOthers else { throw .openToOthers }
        let bytes: [UInt8]
        do { bytes = try PrivateFile.read(path, maximumByteCount: 16_384) } catch { throw .unreadable }
        try self.init(decoding: String(decoding: bytes, as: UTF8.self))
    }

    /// Reads the text of a file.
    ///
    /// - Throws: ``BrokerFileError``.
    package init(decoding text: String) throws(BrokerFileError) {
        var values: [Name: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let name = Name(rawValue: String(parts[0])) else {
                throw .line(String(parts.first ?? ""))
            }
            let value = String(parts[1].drop { $0 == " " })
            guard !value.isEmpty, values.updateValue(value, forKey: name) == nil else { throw .line(name.rawValue) }
        }
        guard let address = values[.address], let colon = address.lastIndex(of: ":"),
            let port = UInt16(address[address.index(after: colon)...]), colon > address.startIndex
        else { throw .line(Name.address.rawValue) }
        guard let login = values[.login] else { throw .line(Name.login.rawValue) }
        guard let passcode = values[.passcode] else { throw .line(Name.passcode.rawValue) }
        let host = address[..<colon]
        self.host = String(host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host)
        self.port = Int(port)
        (self.login, self.passcode) = (login, passcode)
        virtualHost = values[.vhost] ?? "/"
        authority = values[.authority]
    }

    /// How the broker has to prove itself.
    ///
    /// - Throws: ``BrokerFileError/authority``.
    func tls() throws(BrokerFileError) -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        do {
            if let authority {
                let trusted = try NIOSSLCertificate.fromPEMFile(authority)
                guard !trusted.isEmpty else { throw BrokerFileError.authority }
                tls.trustRoots = .certificates(trusted)
            }
            return try NIOSSLContext(configuration: tls)
        } catch { throw .authority }
    }
}

extension BrokerFile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "BrokerFile" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why a file of ``BrokerFile`` is none.
package enum BrokerFileError: Error, Hashable, Sendable {
    /// It cannot be read.
    case unreadable
    /// Others can use it.
    case openToOthers
    /// This line is none of the file, is missing, or is there twice.
    case line(String)
    /// The certificates cannot be read.
    case authority
}
