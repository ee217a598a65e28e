// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import PostgresStores
import Synchronization

/// A server of a lab: a folder of data, a Unix socket, and processes while it runs.
package final class PostgresServer: Sendable {
    let data: String
    /// Where its Unix socket is.
    package let socketFolder: String
    private let counter = Mutex(0)

    init(folder: String) {
        socketFolder = folder
        data = folder + "/data"
        try? LabCommand.run("/bin/mkdir", [folder], asServer: true)
    }

    /// Its database `postgres`, as the superuser.
    package var address: PostgresAddress {
        get throws { try PostgresAddress("host=\(socketFolder) user=signet dbname=postgres") }
    }

    /// Makes an empty database.
    ///
    /// - Parameter form: what `CREATE DATABASE` says after the name.
    package func database(_ form: String = "") throws -> LabDatabase {
        try LabDatabase("d\(newNumber())", form, on: self)
    }

    func newNumber() -> Int {
        counter.withLock {
            $0 += 1; return $0
        }
    }

    /// Runs a command as the superuser, outside of a transaction.
    ///
    /// - Returns: the first field of its answer.
    @discardableResult
    package func administer(_ command: String, in database: String = "postgres") throws -> String? {
        try PostgresConnection.open(address.database(database)).administer(command)
    }

    /// Changes a setting that needs no new start.
    package func change(_ setting: String, to value: String) throws {
        try administer("ALTER SYSTEM SET \(setting) = '\(value)'")
        try administer("SELECT pg_reload_conf()")
        // The reload reaches a connection a moment after it was ordered.
        try wait(for: "the setting") { try administer("SELECT current_setting('\(setting)')") == value }
    }

    /// Waits until a standby that commits wait for is there.
    package func waitForStandby() throws {
        try wait(for: "the standby") {
            try administer("SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')") == "1"
        }
    }

    /// Waits until something holds, which every test of a server must do now and then.
    package func wait(for what: String, _ holds: () throws -> Bool) throws {
        for _ in 0..<600 {
            if try holds() { return }
            usleep(20_000)
        }
        throw PostgresLab.Failure(description: "\(what) did not come about")
    }

    /// Waits until something holds, without holding a thread.
    package func settle(_ what: String, _ holds: () throws -> Bool) async throws {
        for _ in 0..<600 {
            if try holds() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw PostgresLab.Failure(description: "\(what) did not come about")
    }

    func configure(_ settings: [String]) throws {
        let lines =
            [
                "listen_addresses = ''", "unix_socket_directories = '\(socketFolder)'", "max_connections = 60",
                "shared_buffers = 16MB", "hot_standby = on", "log_destination = stderr",
            ] + settings
        try LabCommand.run(
            "/bin/sh", ["-c", "printf '%s\\n' \"$@\" >>\"$0\"/postgresql.conf", data] + lines, asServer: true)
    }
}

// MARK: Processes

extension PostgresServer {
    /// Starts it, and waits until it takes connections.
    package func start() throws {
        // A child that was forked while the others were killed ends by itself a moment later, and until then keeps the memory that all share.
        for _ in 0..<40 {
            do { return try control(["start", "-w", "-l", socketFolder + "/log"]) } catch { usleep(250_000) }
        }
        try control(["start", "-w", "-l", socketFolder + "/log"])
    }

    /// Stops it as an operator does who is in a hurry: what is open is rolled back.
    package func stop() throws { try control(["stop", "-w", "-m", "fast"]) }

    /// Makes a server that follows another one the first.
    package func promote() throws { try control(["promote", "-w"]) }

    /// Lets a server that follows another one hear no more of it. What it has not heard of until then is with the other one only.
    package func stopFollowing(_ other: PostgresServer) throws {
        try configure(["primary_conninfo = ''"])
        try control(["reload"])
        try wait(for: "the end of the receiver") {
            try other.administer("SELECT count(*) FROM pg_stat_replication") == "0"
        }
    }

    /// Kills all of its processes with SIGKILL, and waits until they are gone.
    package func kill() throws {
        let all = processes
        signal(SIGKILL)
        try wait(for: "the end") { all.allSatisfy(Self.hasEnded) }
    }

    /// Stops all of its processes with SIGSTOP.
    package func pause() { signal(SIGSTOP) }

    /// Lets all of its processes go on.
    package func resume() { signal(SIGCONT) }

    private func signal(_ number: Int32) {
        for process in processes { Foundation.kill(process, number) }
    }

    /// The postmaster first: it would start another child for each that ends.
    private var processes: [pid_t] {
        guard let text = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8),
            let first = text.split(separator: "\n").first, let postmaster = pid_t(first)
        else { return [] }
        let list = "/proc/\(postmaster)/task/\(postmaster)/children"
        let children = (try? String(contentsOfFile: list, encoding: .utf8))?.split(separator: " ") ?? []
        return [postmaster] + children.compactMap { pid_t($0) }
    }

    private static func hasEnded(_ process: pid_t) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
        return text.split(separator: ")").last?.hasPrefix(" Z") ?? true
    }

    private func control(_ arguments: [String]) throws {
        // A server that inherits what is open here would keep it open, and with it the pipes of other processes.
        let closing = """
            for open in /proc/$$/fd/*; do open=${open##*/}; ((open > 2)) && eval "exec $open>&-"; done; exec "$@"
            """
        let command = [LabCommand.program("pg_ctl"), "-D", data, "-s"] + arguments
        try LabCommand.run("/bin/bash", ["-c", closing, "bash"] + command, asServer: true)
    }
}
