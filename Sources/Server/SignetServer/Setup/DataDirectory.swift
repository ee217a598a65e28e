// SPDX-License-Identifier: Apache-2.0

/// Where things are in a server's data directory.
public struct DataDirectory: Hashable, Sendable {
    /// The directory itself, mode 0700.
    public let path: String

    /// The data directory at a path; slashes at its end do not count.
    public init(path: String) {
        self.path = path.count > 1 && path.hasSuffix("/") ? DataDirectory(path: String(path.dropLast())).path : path
    }

    /// The secret keys of the directory, mode 0700.
    public var keys: String { path + "/keys" }
    /// The log and the database, mode 0700.
    public var records: String { path + "/records" }
    /// Calls, and signals that wait in inboxes, mode 0600.
    public var signals: String { path + "/signals.sqlite" }
    /// What guardians, owners and new devices leave for each other, SQLite.
    public var recovery: String { path + "/recovery.sqlite" }
    /// What clients need to trust this server: `DirectoryProfile` of the API.
    public var profile: String { path + "/directory.signet" }
    /// The server's certificate, PEM.
    public var certificate: String { path + "/tls/server.pem" }
    /// The server's private key, PEM, mode 0600.
    public var certificateKey: String { path + "/tls/server.key" }
    /// The private key that takes the place of the server's one day, PEM, mode 0600; the server never reads it: move it
    /// away.
    public var backupKey: String { path + "/tls/backup.key" }
    /// The newest ``SignetAPI/DirectoryPins``, their text: what the server logs and shows its clients.
    public var pins: String { path + "/tls/pins" }
    /// Those before, for clients whose epoch is older.
    public var formerPins: String { path + "/tls/pins.before" }
    /// The root certificate made by the setup, PEM.
    public var root: String { path + "/tls/ca.pem" }
    /// The root's private key, PEM, mode 0600; the server never reads it: move it away.
    public var rootKey: String { path + "/tls/ca.key" }
}
