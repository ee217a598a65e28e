// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Foundation
import Synchronization

/// The hosts of an address, each of which gets its turn.
///
/// libpq that does not block its caller goes on to the next host if one refuses, and waits for ever for one that does not answer: it leaves
/// `connect_timeout` to the caller. So it is given one host at a time.
///
/// Spec: PostgreSQL 15, "libpq", 34.1.1.3 Specifying Multiple Hosts, and `PQconnectStartParams` in 34.1.
struct PostgresHosts {
    /// Of each list of hosts, the one that was of use last in this process.
    private static let lastUsed = Mutex<[[String?]: Int]>([:])

    /// What libpq is given for each host.
    let each: [[String: String]]
    /// `connect_timeout` as libpq reads it; nil: for ever.
    let timeout: Duration?
    private let list: [String?]

    /// - Parameter environment: what libpq takes from its variables where the parameters do not say it.
    init(
        _ parameters: [String: String],
        environment: (String) -> String? = { ProcessInfo.processInfo.environment[$0] }
    ) {
        let (host, address) = (parameters["host"], parameters["hostaddr"] ?? environment("PGHOSTADDR"))
        let port = parameters["port"] ?? environment("PGPORT")
        list = [host, address, port]
        each = Self.split(parameters, ["host": host, "hostaddr": address, "port": port])
        let seconds = (parameters["connect_timeout"] ?? environment("PGCONNECT_TIMEOUT")).flatMap { Int($0) } ?? 0
        timeout = seconds > 0 ? .seconds(max(seconds, 2)) : nil
    }

    /// Lists that do not fit together are left to libpq, which refuses them.
    private static func split(_ parameters: [String: String], _ lists: [String: String?]) -> [[String: String]] {
        let values = lists.compactMapValues { $0.flatMap { $0.isEmpty ? nil : $0 } }
            .mapValues { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        let count = (values["hostaddr"] ?? values["host"])?.count ?? 1
        guard values.allSatisfy({ $1.count == count || $0 == "port" && $1.count == 1 }) else { return [parameters] }
        return (0..<count).map { number in
            parameters.merging(values.mapValues { $0.count == 1 ? $0[0] : $0[number] }) { $1 }
        }
    }

    /// The numbers of the hosts in the order of their turns: the one that was of use last, and the others as they are named.
    var order: [Int] {
        let first = Self.lastUsed.withLock { $0[list] } ?? 0
        return [first] + each.indices.filter { $0 != first }
    }

    /// The next connection is tried at this host first.
    func use(_ number: Int) { Self.lastUsed.withLock { $0[list] = number } }

    /// Connects to the first host that answers and is what `target_session_attrs` asks for. Each that has not had its turn yet keeps an equal
    /// share of the time that is left.
    ///
    /// - Parameters:
    ///   - limit: for all of them together.
    ///   - cutOff: ends it before that; nil: nothing does.
    /// - Throws: the words of libpq about each; with a refusal only if each has turned this process away.
    func connect(
        within limit: Duration, _ cutOff: PostgresCutOff? = nil
    ) throws(PostgresFailure) -> (handle: OpaquePointer, number: Int) {
        let deadline = ContinuousClock.now + limit
        var (words, refusals, order): ([String], [PostgresRefusal?], _) = ([], [], order)
        while let number = order.first {
            let now = ContinuousClock.now
            let share = (deadline - now) / order.count
            do throws(PostgresFailure) {
                return (
                    try PostgresSocket.connect(each[number], now + min(share, timeout ?? share), cutOff), number
                )
            } catch {
                let host = each.count > 1 && error.words == PostgresSocket.silence ? name(number) + ": " : ""
                words.append(host + error.words)
                refusals.append(error.refusal)
            }
            order.removeFirst()
        }
        throw PostgresFailure(
            isLost: true, words: words.joined(separator: "; "), refusal: PostgresRefusal.of(refusals))
    }

    private func name(_ number: Int) -> String { each[number]["host"] ?? each[number]["hostaddr"] ?? "" }
}
