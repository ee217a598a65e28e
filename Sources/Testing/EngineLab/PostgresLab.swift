// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import PostgresStores
import Synchronization

/// Real servers of PostgreSQL for tests, in a temporary folder that goes with the process, also when that is killed.
package final class PostgresLab: Sendable {
    /// Why a server could not be started.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Where the system has the programs; nil: it has none that is new enough.
    package static let programs: String? = (15...19).map { "/usr/lib/postgresql/\($0)/bin" }.last {
        access($0 + "/initdb", X_OK) == 0
    }
    /// Whether tests can run. Those that cannot say so: ``sayWhatIsLeftOut(_:)``.
    package static var isPresent: Bool { programs != nil }

    /// The lab of this process. Its server is started by the first test that asks for a database.
    package static let shared = Result { try PostgresLab() }

    /// Of everything that the lab makes. Its path is short, because that of a socket may have 107 bytes.
    package let folder: String
    private let watch: LabWatch
    private let counter = Mutex(0)
    private let server = Mutex<PostgresServer?>(nil)

    private init() throws {
        guard Self.isPresent else { throw Failure(description: "there is no PostgreSQL 15 here") }
        var template = Array("/tmp/sglab.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "no temporary folder") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        watch = try LabWatch(over: folder)
        if getuid() == 0 { try LabCommand.run("/bin/chown", ["postgres", folder]) }
        try LabCommand.run(LabCommand.program("initdb"), ["-D", folder + "/new"] + Self.form, asServer: true)
    }

    private static let form = ["-U", "signet", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-N"]

    /// An empty database of a server that all tests of the process share. That server does not wait for the disk.
    ///
    /// - Parameter form: what `CREATE DATABASE` says after the name.
    package static func database(_ form: String = "") throws -> LabDatabase {
        let lab = try shared.get()
        return try lab.sharedServer().database(form)
    }

    /// A server of its own.
    ///
    /// - Parameter settings: lines for `postgresql.conf`.
    package func primary(_ settings: [String] = []) throws -> PostgresServer {
        let server = PostgresServer(folder: newFolder())
        try LabCommand.run("/bin/cp", ["-a", folder + "/new", server.data], asServer: true)
        try server.configure(settings)
        try server.start()
        return server
    }

    /// A copy of a server, which follows it.
    ///
    /// - Parameter name: what it calls itself, for `synchronous_standby_names` of the other.
    package func replica(of primary: PostgresServer, name: String) throws -> PostgresServer {
        let server = PostgresServer(folder: newFolder())
        try LabCommand.run(
            LabCommand.program("pg_basebackup"),
            [
                "-h", primary.socketFolder, "-U", "signet", "-D", server.data, "-X", "stream", "-c", "fast",
                "--no-sync",
            ], asServer: true)
        try server.configure([
            "primary_conninfo = 'host=\(primary.socketFolder) user=signet application_name=\(name)'",
            "wal_retrieve_retry_interval = 200ms",
        ])
        try LabCommand.run("/usr/bin/touch", [server.data + "/standby.signal"], asServer: true)
        try server.start()
        return server
    }

    /// A server, and another one that each commit of it waits for.
    package func pair() throws -> (primary: PostgresServer, replica: PostgresServer) {
        let primary = try primary()
        let replica = try replica(of: primary, name: "second")
        try primary.change("synchronous_standby_names", to: "ANY 1 (second)")
        try primary.waitForStandby()
        return (primary, replica)
    }

    private func sharedServer() throws -> PostgresServer {
        try server.withLock { server in
            if let server { return server }
            let new = try primary(["fsync = off", "full_page_writes = off", "max_connections = 300"])
            server = new
            return new
        }
    }

    private func newFolder() -> String {
        folder + "/"
            + String(
                counter.withLock {
                    $0 += 1; return $0
                })
    }

    /// Says that tests were left out because there is no PostgreSQL, as `Scripts/left-out` does.
    ///
    /// - Returns: whether that is a failure: on machines that are to have everything.
    package static func sayWhatIsLeftOut(_ tests: String) -> Bool {
        let line = "\(tests): there is no PostgreSQL 15 here, so nothing of it ran on a server\n"
        print(line, terminator: "")
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["SIGNET_LEFT_OUT"], let file = fopen(path, "a") {
            fputs(line, file)
            fclose(file)
        }
        return environment["SIGNET_CI"] == "1"
    }
}
