// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import Testing

@testable import PostgresStores

/// Several hosts in one address.
struct HostTests {
    private func hosts(_ text: String, _ environment: [String: String] = [:]) throws -> PostgresHosts {
        PostgresHosts(try PostgresAddress(text).parameters) { environment[$0] }
    }

    private func places(_ text: String, _ environment: [String: String] = [:]) throws -> [[String?]] {
        try hosts(text, environment).each.map { [$0["host"], $0["hostaddr"], $0["port"]] }
    }

    @Test func eachHostIsNamedWithWhatBelongsToIt() throws {
        #expect(try places("host=a") == [["a", nil, nil]])
        #expect(try places("host=a,b port=1") == [["a", nil, "1"], ["b", nil, "1"]])
        #expect(try places("host=a,b port=1,2") == [["a", nil, "1"], ["b", nil, "2"]])
        #expect(
            try places("host=a,b hostaddr=10.0.0.1,10.0.0.2") == [["a", "10.0.0.1", nil], ["b", "10.0.0.2", nil]])
        #expect(try places("hostaddr=10.0.0.1,10.0.0.2") == [[nil, "10.0.0.1", nil], [nil, "10.0.0.2", nil]])
        #expect(try places("postgres://a:1,b:2/d") == [["a", nil, "1"], ["b", nil, "2"]])
        #expect(try places("host=a,b", ["PGPORT": "1,2"]) == [["a", nil, "1"], ["b", nil, "2"]])
        let each = try hosts("host=a,b user=u dbname=d target_session_attrs=read-write").each
        #expect(each.map { $0["target_session_attrs"] } == ["read-write", "read-write"])
        #expect(each.map { $0["sslmode"] } == ["verify-full", "verify-full"])
    }

    @Test(arguments: ["host=a,b port=1,2,3", "host=a port=1,2", "host=a,b hostaddr=10.0.0.1"])
    func listsThatDoNotFitTogetherAreLeftToLibpq(text: String) throws {
        #expect(try hosts(text).each == [try PostgresAddress(text).parameters])
    }

    /// As libpq reads it where it applies it itself.
    @Test(
        arguments: [("", nil), ("0", nil), ("-1", nil), ("x", nil), ("1", 2), ("2", 2), ("7", 7)] as [(String, Int?)])
    func theTimeoutOfTheAddressIsReadAsLibpqDoes(said: String, seconds: Int?) throws {
        let words = said.isEmpty ? "host=a" : "host=a connect_timeout=\(said)"
        #expect(try hosts(words).timeout == seconds.map { .seconds($0) })
        #expect(try hosts("host=a", ["PGCONNECT_TIMEOUT": said]).timeout == seconds.map { .seconds($0) })
    }
}

/// A host that is cut off, or stands still, does not refuse: it never answers.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct SilentHostTests {
    private func hosts(_ first: String, before address: PostgresAddress, _ more: String = "") throws -> PostgresAddress
    {
        let last = try #require(address.parameters["host"])
        let name = address.parameters["dbname"] ?? ""
        return try PostgresAddress(
            "host=\(first),\(last) user=signet dbname=\(name) target_session_attrs=read-write \(more)")
    }

    /// It takes connections, and says nothing: a primary that stands still.
    @Test func theSecondHostIsReached_andIsTheFirstThenceforth() throws {
        let lent = try PostgresLab.database()
        let (proxy, attempts) = (try lent.proxy(), Tally())
        proxy.decide {
            if $0.type == nil { attempts.up() }
            return .withhold
        }
        let silent = try #require(proxy.address.parameters["host"])
        let address = try hosts(silent, before: lent.address)
        let limit = Duration.seconds(6)
        let duration = try ContinuousClock().measure { _ = try PostgresConnection.open(address, connecting: limit) }
        #expect(duration >= limit / 2, "the first host has its share")
        #expect(attempts.count == 1)
        _ = try PostgresConnection.open(address, connecting: limit)
        #expect(attempts.count == 1, "the one that answered last comes first")
    }

    /// Whoever is remembered can fall silent too.
    @Test func theFirstHostIsReachedAgainWhenTheSecondFallsSilent() throws {
        let lent = try PostgresLab.database()
        let (first, second) = (try lent.proxy(), try lent.proxy())
        let silent = try #require(first.address.parameters["host"])
        let address = try hosts(silent, before: second.address)
        for (broken, whole) in [(first, second), (second, first)] {
            broken.decide { _ in .withhold }
            whole.pass()
            _ = try PostgresConnection.open(address, connecting: .seconds(6))
        }
    }

    /// What `connect_timeout` says is for each host, as libpq has it, and the whole stays within the limit.
    @Test func aTimeoutOfTheAddressIsForEachHost() throws {
        let lent = try PostgresLab.database()
        let proxy = try lent.proxy()
        proxy.decide { _ in .withhold }
        let silent = try #require(proxy.address.parameters["host"])
        let address = try hosts(silent, before: lent.address, "connect_timeout=2")
        let duration = try ContinuousClock().measure {
            _ = try PostgresConnection.open(address, connecting: .seconds(60))
        }
        #expect(duration >= .seconds(2) && duration < .seconds(30))
        let both = try hosts(silent, before: proxy.address)
        let refusal = #expect(throws: PostgresOpenError.self) {
            _ = try PostgresConnection.open(both, connecting: .milliseconds(400))
        }
        let words = "\(silent): no answer in time; \(silent): no answer in time"
        #expect(refusal == .unreachable(address: both.description, words: words))
    }

    /// It takes no connection, and refuses none: what is sent to it is dropped.
    @Test func aHostThatDropsWhatIsSentHasItsShareOnly() throws {
        let lent = try PostgresLab.database()
        let hole = try BlackHole()
        let address = try hosts("127.0.0.1", before: lent.address, "port=\(hole.port),5432")
        #expect(hole.isFull)
        _ = try PostgresConnection.open(address, connecting: .seconds(6))
    }

    /// A standby answers, and is passed over.
    @Test func aStandbyIsPassedOverWhereThePrimaryIsAskedFor() throws {
        let (primary, replica) = try PostgresLab.shared.get().pair()
        let connection = try PostgresConnection.open(try hosts(replica.socketFolder, before: primary.address))
        #expect(try connection.administer("SELECT pg_is_in_recovery()") == "f")
        connection.close()
        try replica.stop()
        try primary.stop()
    }
}

/// A port of the loopback interface that listens, and whose queue of connections is full.
private final class BlackHole: Sendable {
    let port: UInt16
    private let descriptors: [Int32]

    init() throws {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let listener = socket(AF_INET, stream, 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let size = length
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 0) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        try #require(isListening)
        var descriptors = [listener]
        for _ in 0..<4 {
            let client = socket(AF_INET, stream, 0)
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            _ = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, size) }
            }
            descriptors.append(client)
        }
        (port, self.descriptors) = (UInt16(bigEndian: address.sin_port), descriptors)
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// Whether the last of those who have knocked was let in as little as refused.
    var isFull: Bool { descriptors.last.map { !PostgresSocket.wait($0, Int16(POLLOUT), .now) } ?? false }
}
