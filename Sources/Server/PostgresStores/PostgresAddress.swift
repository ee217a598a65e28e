// SPDX-License-Identifier: Apache-2.0

import CPostgres

/// Where a PostgreSQL is, and as whom to speak to it: a connection string of libpq, or a `postgres://` URL.
///
/// What it does not say, libpq takes from its own variables of the environment, except for `sslmode`.
///
/// Spec: PostgreSQL 15, "libpq", 34.1.1 Connection Strings and 34.1.2 Parameter Key Words.
package struct PostgresAddress: Sendable, Hashable, CustomStringConvertible {
    /// How far a connection over a network must be protected.
    package enum Protection: Sendable {
        /// TLS with a certificate that names the host, as `sslmode=verify-full` demands.
        case verified
        /// As the address says: the operator's explicit choice, for a network that is protected otherwise.
        case asSaid
    }

    /// Keywords of libpq and their values.
    let parameters: [String: String]

    /// Reads an address.
    ///
    /// - Throws: ``PostgresAddressError``. It never has a part of a password in it.
    package init(_ text: String, protection: Protection = .verified) throws(PostgresAddressError) {
        var parameters = try Self.parsed(text)
        guard parameters["service"] == nil else { throw .service }
        let isLocal = try Self.isLocal(parameters)
        let mode = parameters["sslmode"] ?? (isLocal ? "prefer" : "verify-full")
        guard isLocal || protection == .asSaid || mode == "verify-full" else { throw .withoutVerifiedTLS(mode: mode) }
        parameters["sslmode"] = mode
        self.parameters = parameters
    }

    /// An address with other values.
    init(parameters: [String: String]) { self.parameters = parameters }

    /// The same server as the same user, at another of its databases.
    package func database(_ name: String) -> PostgresAddress {
        PostgresAddress(parameters: parameters.merging(["dbname": name]) { $1 })
    }

    /// The same database as the same user, at another host or in the folder of another Unix socket.
    package func host(_ host: String) throws(PostgresAddressError) -> PostgresAddress {
        let parameters = parameters.merging(["host": host]) { $1 }
        guard try Self.isLocal(parameters) || parameters["sslmode"] == "verify-full" else {
            throw .withoutVerifiedTLS(mode: parameters["sslmode"] ?? "")
        }
        return PostgresAddress(parameters: parameters)
    }

    /// What may be shown: host, port, database, user and `sslmode`.
    package var description: String {
        ["host", "hostaddr", "port", "dbname", "user", "sslmode"].compactMap { key in
            parameters[key].map { "\(key)=\($0)" }
        }.joined(separator: " ")
    }

    /// A message of libpq without the passwords.
    func masked(_ words: String) -> String {
        ["password", "sslpassword"].compactMap { parameters[$0] }.filter { !$0.isEmpty }
            .reduce(words) { $0.replacing($1, with: "…") }
    }

    private static func parsed(_ text: String) throws(PostgresAddressError) -> [String: String] {
        guard !text.utf8.contains(0) else { throw .malformed("a zero byte") }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            defer { PQfreemem(message) }
            throw .malformed(message.map { withoutQuotations(String(cString: $0)) } ?? "not enough memory")
        }
        defer { PQconninfoFree(options) }
        var (parameters, option): ([String: String], _) = ([:], options)
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return parameters
    }

    /// What libpq quotes can be a piece of a password.
    static func withoutQuotations(_ message: String) -> String {
        let message = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        guard let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\""), first < last else {
            return message
        }
        return message[..<first] + "\"…\"" + message[message.index(after: last)...]
    }

    /// Whether every host is a Unix socket of this machine or its loopback interface.
    private static func isLocal(_ parameters: [String: String]) throws(PostgresAddressError) -> Bool {
        let places = [parameters["hostaddr"], parameters["host"]].compactMap(\.self).filter { !$0.isEmpty }
        guard let hosts = places.first else { throw .withoutHost }
        return hosts.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(isLocal)
    }

    private static func isLocal(_ host: Substring) -> Bool {
        if host.hasPrefix("/") || host.hasPrefix("@") { return true }
        if host == "localhost" || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }
}

/// Why a text is no address of a PostgreSQL, or one that is refused.
package enum PostgresAddressError: Error, Hashable, Sendable {
    /// libpq cannot read it; its words, without what it quotes.
    case malformed(String)
    /// It names no host. A Unix socket is named by its folder.
    case withoutHost
    /// It refers to a service file, which could say anything.
    case service
    /// It leads over a network, and not by `sslmode=verify-full`.
    case withoutVerifiedTLS(mode: String)
}
