// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

/// The configuration of `signetd run`: the environment overrides the file, and the command line overrides both.
@Suite(.serialized) struct ConfigTests {
    private static let names = [
        "account-rate", "admin-listen", "announce", "behind", "bind", "by-invitation", "connections",
        "connections-per-address",
        "data",
        "disregard-witness", "drain", "epoch", "explorer",
        "heartbeat", "log-level", "login-attempts", "open-metrics", "plain-http", "quota", "rate", "registration",
        "registrations",
        "relay-bind", "relay-port", "relays",
        "republish", "roles",
        "require-confirmation", "second-memory", "signals", "tls-cert", "tls-key", "witness-roots",
    ]

    private func check(_ town: Town, _ text: String, _ environment: [String: String] = [:]) async throws -> Exit {
        try town.write(text.utf8, to: "signetd.conf")
        return try await Program.signetd.run(
            ["config", "check", "--config", "signetd.conf"], in: town.folder, environment: environment)
    }

    // MARK: check

    @Test func aConfigurationOfAllSettingsIsAccepted() async throws {
        try await Town.with { town in
            let text = """
                # A comment, and an empty line.

                data = later
                  bind=[::1]:0\r
                by-invitation = false
                registration = policy
                rate = 0
                account-rate\t=\t4294967295
                registrations = 10
                connections = 1
                connections-per-address = 2147483647
                epoch = 0
                # explorer = /usr/share/signet/explorer
                heartbeat = 900
                republish = 60
                roles = serve,sequence
                announce = 15
                drain = 20
                login-attempts = 10
                quota = 5GB
                admin-listen = 127.0.0.1:9464
                behind = 192.0.2.1  2001:db8::/32
                plain-http = false
                open-metrics = false
                require-confirmation = false
                disregard-witness = w1  w2
                relay-bind = 0.0.0.0
                relay-port = 65535
                relays = 8443,8444
                signals = broker
                log-level = notice
                tls-cert = server/tls/server.pem
                tls-key = server/tls/server.key
                witness-roots = server/tls/ca.pem
                second-memory = server/tls/ca.pem
                """
            try town.write("register * open\n".utf8, to: "policy")
            try town.write("address localhost:61614\nlogin x\npasscode y\n".utf8, to: "broker")
            try town.chmod("broker", 0o600)
            let exit = try await check(town, text)
            expect(0, exit)
            #expect(exit.lines == ["nothing is wrong"])
            #expect(Self.names.allSatisfy { text.contains($0) })
            expect(0, try await check(town, ""), "an empty file")
            expect(0, try await check(town, "bind = unix:/run/signet/server.socket\nplain-http = true\n"))
            expect(0, try await Program.signetd.run(["config", "check"], in: town.folder))
        }
    }

    @Test(arguments: [
        (
            "bidn = x\n",
            #"line 1: there is no setting "bidn"; there are account-rate, admin-listen, announce, behind, "#
        ),
        ("Bind = 127.0.0.1:1\n", #"line 1: there is no setting "Bind""#),
        ("accept-restored = true\n", #"line 1: there is no setting "accept-restored""#),
        ("bad-network-for-tests = 0,0,0,0\n", #"line 1: there is no setting "bad-network-for-tests""#),
        ("\n# x\nbind\n", "line 3: write `key = value`; begin a comment with #"),
        ("rate = 1\nrate = 1\n", "line 2: rate is in line 1 already; remove one of them"),
        ("rate =\n", "line 1: rate has no value; give it one, or remove it to get the default"),
        ("rate = 100 # a second\n", "line 1: a comment needs a line of its own; move it there"),
        ("bind = localhost:x\n", "line 1: bind must be host:port, such as 127.0.0.1:8443"),
        ("bind = unix:server.socket\n", "line 1: bind must be host:port, such as 127.0.0.1:8443"),
        ("bind = unix:/\(String(repeating: "x", count: 200))\n", "or unix: and the whole path of a socket, of at most"),
        ("admin-listen = [::1]:x\n", "line 1: admin-listen must be host:port"),
        ("admin-listen = ::1:9464\n", "line 1: admin-listen must be host:port, such as 127.0.0.1:8443 or [::1]:8443"),
        ("bind = ::1:8443\n", "line 1: bind must be host:port, such as 127.0.0.1:8443 or [::1]:8443"),
        ("bind = 2001:db8::1\n", "line 1: bind must be host:port, such as 127.0.0.1:8443 or [::1]:8443"),
        ("bind = [localhost]:8443\n", "line 1: bind must be host:port"),
        ("bind = [::1:8443\n", "line 1: bind must be host:port"),
        (
            "behind = 192.0.2.1 proxy.example\n",
            "line 1: behind must be addresses or networks such as 192.0.2.1, 192.0.2.0/24"
        ),
        ("behind = 192.0.2.1/24\n", "line 1: behind must be addresses or networks such as 192.0.2.1, 192.0.2.0/24"),
        ("plain-http = yes\n", "line 1: plain-http must be true or false"),
        ("rate = -1\n", "line 1: rate must be a whole number from 0 to 4294967295"),
        ("rate = +1\n", "line 1: rate must be a whole number from 0 to 4294967295"),
        ("rate = 4294967296\n", "line 1: rate must be a whole number from 0 to 4294967295"),
        ("connections = 0\n", "line 1: connections must be a whole number from 1 to 2147483647"),
        ("republish = 0\n", "line 1: republish must be a whole number from 1 to 4294967295"),
        ("drain = 0\n", "line 1: drain must be a whole number from 1 to 4294967295"),
        ("quota = lots\n", "line 1: quota must be a size such as 5GB, 512MiB or 1000000"),
        ("quota = 99999999999GB\n", "line 1: quota must be a size such as 5GB, 512MiB or 1000000"),
        ("relay-bind = 0.0.0.0:8443\n", "line 1: relay-bind must be an address without port and brackets"),
        ("relay-port = 65536\n", "line 1: relay-port must be a whole number from 0 to 65535"),
        ("open-metrics = yes\n", "line 1: open-metrics must be true or false"),
        ("log-level = loud\n", "line 1: log-level must be trace, debug, info, notice, warning, error or critical"),
        ("disregard-witness = w\t1\n", "line 1: disregard-witness must be the names of witnesses in the policy"),
        ("witness-roots = nowhere.pem\n", "line 1: witness-roots must be the path of a file that can be read"),
        ("second-memory = server\n", "line 1: second-memory must be the path of a file that can be read"),
        ("data = a\u{7}b\n", "line 1: data must be the path of a folder"),
        ("tls-cert = server/tls/server.pem\n", "signetd.conf: tls-cert and tls-key go together; set both or neither"),
        ("tls-key = server/tls/server.key\n", "signetd.conf: tls-cert and tls-key go together; set both or neither"),
        ("#" + String(repeating: "x", count: 65_536), "the file is not UTF-8 text of at most 65536 bytes"),
    ])
    func aWrongSettingIsReportedWithItsLineAndARemedy(text: String, words: String) async throws {
        try await Town.with { town in
            let exit = try await check(town, text)
            expect(78, exit)
            #expect(exit.lines.count == 1)
            #expect(exit.lines.first?.hasPrefix("wrong: signetd.conf") == true)
            #expect(exit.output.contains(words), "\(exit.output)")
            let started = try await Program.signetd.run(
                ["run", "--data", "server", "--config=signetd.conf"], in: town.folder)
            expect(78, started)
            #expect(started.output.isEmpty)
            #expect(started.errors.contains("signetd: signetd.conf") && started.errors.contains(words))
        }
    }

    @Test func allWrongSettingsAreReportedAtOnce() async throws {
        try await Town.with { town in
            let environment = [
                "SIGNETD_LOG_LEVEL": "x", "SIGNETD_PORT": "1", "SIGNETD_TLS_KEY": "server/tls/server.key",
            ]
            let exit = try await check(town, "a = 1\nb\nrate = x\n", environment)
            expect(78, exit)
            #expect(exit.lines.count == 6)
            #expect(
                exit.lines.dropFirst(3).first?.hasPrefix(
                    "wrong: the environment variable SIGNETD_LOG_LEVEL: log-level must") == true)
            #expect(
                exit.output.contains("SIGNETD_PORT: there is no setting of this name; there are SIGNETD_ACCOUNT_RATE, ")
            )
            let before = try town.contents("server")
            expect(
                78,
                try await Program.signetd.run(["run", "--data", "server"], in: town.folder, environment: environment))
            #expect(try town.contents("server") == before)
            expect(0, try await Program.signetd.run(["run", "--help"], in: town.folder, environment: environment))
        }
    }

    @Test func anUnreadableConfigurationFileIsNamed() async throws {
        try await Town.with { town in
            let missing = try await town.signetd("config", "check", "--config", "nowhere")
            expect(78, missing)
            #expect(missing.lines == ["wrong: nowhere: the file cannot be read; check its name and its permissions"])
            try town.write([0x23, 0xFF, 0x0A], to: "binary")
            let binary = try await town.signetd("config", "check", "--config", "binary")
            expect(78, binary)
            #expect(binary.lines == ["wrong: binary: the file is not UTF-8 text of at most 65536 bytes"])
        }
    }

    @Test func theSettingsAreTheOptionsOfRun() async throws {
        try await Town.with { town in
            let exit = try await check(town, "x = 1\n")
            let list = try #require(exit.output.components(separatedBy: "there are ").last?.dropLast())
            #expect(list.components(separatedBy: ", ") == Self.names)
            let dump = try await town.signetd("run", "--experimental-dump-help")
            let options = Set(try Self.longNames(dump.output))
            let others: Set = [
                "config", "accept-restored", "accept-lost-notes", "accept-clock", "bad-network-for-tests", "help",
                "version",
            ]
            #expect(options.subtracting(others) == Set(Self.names))
        }
    }

    private static func longNames(_ dump: String) throws -> [String] {
        let object = try #require(JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any])
        let arguments = (object["command"] as? [String: Any])?["arguments"] as? [[String: Any]] ?? []
        return arguments.flatMap { $0["names"] as? [[String: Any]] ?? [] }
            .filter { $0["kind"] as? String == "long" }.compactMap { $0["name"] as? String }
    }

    // MARK: run

    @Test func theEnvironmentOverridesTheFile_andTheCommandLineOverridesBoth() async throws {
        try await Town.with { town in
            try town.write("data = server\nbind = 127.0.0.1:0\nlog-level = critical\n".utf8, to: "signetd.conf")
            for (environment, arguments, hasLines) in [
                ([:], [], false),
                (["SIGNETD_LOG_LEVEL": "info"], [], true),
                (["SIGNETD_LOG_LEVEL": "info"], ["--log-level", "critical"], false),
                (
                    ["SIGNETD_LOG_LEVEL": "critical", "SIGNETD_DATA": "nowhere"],
                    ["--log-level=info", "--data", "server"], true
                ),
            ] as [([String: String], [String], Bool)] {
                let server = try await RunningServer.start(
                    .signetd, ["run", "--config", "signetd.conf"] + arguments, in: town.folder, environment: environment
                )
                let exit = try await server.stop()
                expect(0, exit)
                #expect(exit.errors.contains("msg=listening") == hasLines, "\(environment) \(arguments)")
            }
        }
    }

    /// A switch that the file turns on, and the environment off: without confirmation this server does not start.
    @Test func aSwitchCanBeTurnedOnByTheFileAndOffByTheEnvironment() async throws {
        try await Town.with { town in
            try town.write("require-confirmation = true\ndisregard-witness = clock\n".utf8, to: "signetd.conf")
            let run = ["run", "--data", "server", "--bind", "127.0.0.1:0", "--config", "signetd.conf"]
            let refused = try await Program.signetd.run(run, in: town.folder)
            expect(64, refused)
            #expect(refused.errors.contains("--require-confirmation: there is nobody to ask"), "\(refused.errors)")
            let server = try await RunningServer.start(
                .signetd, run, in: town.folder, environment: ["SIGNETD_REQUIRE_CONFIRMATION": "false"])
            expect(0, try await server.stop())
        }
    }

    /// What would let strangers see or forge more than they may is refused before the data is touched.
    @Test(arguments: [
        (["--plain-http"], "name the proxy's address with --behind"),
        (
            ["--plain-http", "--behind=127.0.0.1", "--bind=0.0.0.0:0"],
            "--plain-http: only on 127.0.0.1, [::1] or localhost"
        ),
        (
            ["--plain-http", "--behind=127.0.0.1", "--bind=[::]:0"],
            "--plain-http: only on 127.0.0.1, [::1] or localhost"
        ),
        (
            ["--plain-http", "--behind=127.0.0.1", "--bind=127.0.0.1.example:0"],
            "--plain-http: only on 127.0.0.1, [::1] or localhost"
        ),
        (["--behind=proxy.example"], "--behind: proxy.example is not an address"),
        (["--behind=192.0.2.1/24"], "--behind: 192.0.2.1/24 is not an address"),
        (["--behind=0.0.0.0/0"], "--behind: 0.0.0.0/0 is not an address"),
        (["--admin-listen=x:y"], "--admin-listen: host:port"),
        (["--admin-listen=127.0.0.1:0", "--open-metrics"], "only one of them says where /metrics is"),
    ])
    func proxiesAndOperatorsAddressesThatDoNotGoTogetherAreRefused(arguments: [String], words: String) async throws {
        try await Town.with { town in
            let before = try town.contents("server")
            let exit = try await Program.signetd.run(
                ["run", "--data", "server", "--bind=127.0.0.1:0"] + arguments, in: town.folder)
            expect(64, exit)
            let told = exit.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(told.contains(words), "\(exit.errors)")
            #expect(try town.contents("server") == before)
        }
    }

    // MARK: systemd

    #if canImport(Glibc)
        @Test func systemdIsNotifiedOfReadyWatchdogAndStopping() async throws {
            try await Town.with { town in
                let place = "/tmp/\(UUID().uuidString)"
                let socket = try NotifySocket(place)
                defer { unlink(place) }
                let server = try await RunningServer.start(
                    .signetd, ["run", "--data", "server", "--bind", "127.0.0.1:0"], in: town.folder,
                    environment: ["NOTIFY_SOCKET": place, "WATCHDOG_USEC": "60000000"])
                #expect(socket.next() == "READY=1")
                #expect(socket.next() == "WATCHDOG=1")
                expect(0, try await server.stop())
                #expect(socket.next() == "STOPPING=1")
            }
        }

        @Test func noWatchdogIsSentWithoutOneOrForAnotherProcess() async throws {
            try await Town.with { town in
                for environment in [[:], ["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"], ["WATCHDOG_USEC": "0"]] {
                    let place = "/tmp/\(UUID().uuidString)"
                    let socket = try NotifySocket(place)
                    defer { unlink(place) }
                    let server = try await RunningServer.start(
                        .signetd, ["run", "--data", "server", "--bind", "127.0.0.1:0"], in: town.folder,
                        environment: environment.merging(["NOTIFY_SOCKET": place]) { $1 })
                    expect(0, try await server.stop())
                    #expect(socket.next() == "READY=1")
                    #expect(socket.next() == "STOPPING=1")
                }
            }
        }

        @Test func aMissingNotifySocketDoesNotStopTheServer() async throws {
            try await Town.with { town in
                for place in [
                    "/nowhere/socket", "@signet-\(UUID().uuidString)", "relative", String(repeating: "/x", count: 99),
                ] {
                    let server = try await RunningServer.start(
                        .signetd, ["run", "--data", "server", "--bind", "127.0.0.1:0"], in: town.folder,
                        environment: ["NOTIFY_SOCKET": place])
                    expect(0, try await server.stop())
                }
            }
        }
    #endif
}

#if canImport(Glibc)
    /// The socket at which systemd listens.
    private final class NotifySocket {
        private let descriptor: Int32

        init(_ path: String) throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            var time = timeval(tv_sec: Int(Program.deadline), tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
            }
            try #require(descriptor >= 0 && result == 0)
        }

        deinit { close(descriptor) }

        /// The next datagram; nil if none comes.
        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
        }
    }
#endif
