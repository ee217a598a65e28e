// SPDX-License-Identifier: Apache-2.0

/// Why no host lets this process in, until a person changes the address, the server, or who may do what there.
///
/// Everything else may pass: a host that does not answer, one that starts up or shuts down (57P01 to 57P03), that has too many connections
/// (53300), or that only follows another one.
package struct PostgresRefusal: Hashable, Sendable {
    /// Which part of the address is to be looked at.
    package enum Part: Hashable, Sendable {
        /// A value that libpq does not take, or lists that do not fit together: it says so before it asks anybody.
        case address
        /// One side has no TLS where the other one demands it, or does not accept the other's certificate.
        case tls
        /// The user, the password, or where they may come from.
        case login
        /// There is no such database, or the user may not connect to it.
        case database
    }

    /// Which part of the address is to be looked at.
    package let part: Part
    /// What the server called it; nil if libpq found it.
    package let state: String?

    /// That of one attempt to connect, by what libpq says of it with `PQERRORS_VERBOSE`: it gives the SQLSTATE nowhere else.
    ///
    /// Spec: PostgreSQL 15, Appendix A: class 28 is `invalid_authorization_specification`, 3D000 `invalid_catalog_name` and 42501
    /// `insufficient_privilege`, which here is that to connect.
    init?(_ words: String) {
        state = (try? #/:  ([0-9A-Z]{5}): /#.firstMatch(in: words)).flatMap { $0 }.map { String($0.1) }
        switch state {
        case "28000", "28P01": part = .login
        case "3D000", "42501": part = .database
        case nil where words.contains("no password supplied"): part = .login
        case nil where Self.isOfTLS(words): part = .tls
        case nil where Self.isOfAddress(words): part = .address
        default: return nil
        }
    }

    /// A connection that breaks off in a handshake is called an error of SSL, too.
    private static func isOfTLS(_ words: String) -> Bool {
        words.contains("certificate") || words.contains("SSL was required")
            || words.contains("SSL error") && !words.contains("eof")
    }

    /// What is said after an attempt to reach a host begins with that host.
    private static func isOfAddress(_ words: String) -> Bool {
        words.prefixMatch(of: #/invalid (?:port number: |\w+ value: |integer value ")|could not match \d+ /#) != nil
    }

    /// That of all attempts, the first one's if each was turned away; nil if one of them may pass.
    static func of(_ attempts: [PostgresRefusal?]) -> PostgresRefusal? {
        attempts.contains(nil) ? nil : attempts.first.flatMap { $0 }
    }
}

extension PostgresFailure {
    /// What libpq says with `PQERRORS_VERBOSE` of a host to which no connection was made: of each attempt, as the addresses of one name are
    /// attempts of their own.
    init(connecting message: String) {
        let lines = message.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("LOCATION:") }
        let attempts = lines.reduce(into: [String]()) { attempts, line in
            guard !line.hasPrefix("connection to server"), let last = attempts.popLast() else {
                return attempts.append(String(line))
            }
            attempts.append("\(last) \(line)")
        }
        self.init(isLost: true, words: attempts.joined(separator: " "))
        refusal = PostgresRefusal.of(attempts.map { PostgresRefusal($0) })
    }
}
