// SPDX-License-Identifier: Apache-2.0

/// Where things are in a witness's data directory.
public struct WitnessDirectory: Hashable, Sendable {
    /// The directory itself, mode 0700.
    public let path: String

    /// The data directory at a path; slashes at its end do not count.
    public init(path: String) { self.path = DataDirectory(path: path).path }

    /// The witness's secret key, mode 0600.
    public var key: String { path + "/witness.key" }
    /// Its second secret key, ML-DSA-44, mode 0600; witnesses made by earlier versions have none.
    public var postQuantumKey: String { path + "/witness-ml-dsa-44.key" }
    /// The logs that it serves: a list of ``TransparencyLog/WitnessedLogs``.
    public var logs: String { path + "/logs" }
    /// What it cosigned last.
    ///
    /// Security: never bring back an older copy of it while the key lives on.
    public var memory: String { path + "/witness.sqlite" }
    /// Where the TLS files are, if there are any.
    public var tls: DataDirectory { DataDirectory(path: path) }
}
