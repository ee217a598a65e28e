// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyPinning
import PinnedHTTP
import SignetAPI
import SignetClient
import Testing
import TransparencyLog

/// A server that changes its TLS key while it runs, and one that lost all its keys, in real processes.
@Suite(.serialized) struct TLSRotationTests {
    static let options = [
        "--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0", "--republish", "1",
    ]

    static func profile(_ town: Town, _ home: String) throws -> DirectoryProfile {
        try DirectoryProfile(decoding: town.bytes("\(home)/directory"))
    }

    /// A client that accepts only this key.
    private static func transport(_ town: Town, accepting pin: Pin) throws -> NIOTransport {
        let profile = try profile(town, "alice")
        let pins = [Pin(pin.key, tier: .leaf), Pin(SPKIPin(hashing: [1]), tier: .leaf, isBackup: true)]
        return try NIOTransport(
            to: DirectoryProfile(url: profile.url, tlsRoot: profile.tlsRoot, pins: pins, trust: profile.trust))
    }

    private static func isServed(_ transport: NIOTransport) async throws -> Bool {
        let limit = ResponseLimit(maximumByteCount: 65_536, mediaType: nil)
        let request = TransportRequest(method: "GET", path: Route.health.path, limit: limit)
        do { return try await transport.send(request).status == 200 } catch {
            guard case .refused = error else { throw error }
            return false
        }
    }

    /// Repeats the update until the server has logged a version, which it does within its interval.
    static func learn(_ version: UInt64, _ town: Town, _ home: String) async throws {
        for _ in 0..<200 where try profile(town, home).mark?.version != version {
            expect(0, try await town.signet(home, "pins", "update"), home)
        }
        #expect(try profile(town, home).mark?.version == version)
    }

    @Test func aRunningServerChangesItsKey_andClientsThatUpdateStayConnected() async throws {
        try await Town.with { town in
            let early = try await town.signetd("rotate", "tls", "--data", "server")
            expect(75, early)
            #expect(early.complaint.contains("have not yet had 30 days"), "\(early.errors)")
            let pins = try Self.profile(town, "alice").pins
            try await town.serving(.signetd, Self.options) { _ in
                let established = try Self.transport(town, accepting: pins[0])
                #expect(try await Self.isServed(established))
                #expect(try await !Self.isServed(Self.transport(town, accepting: pins[1])))

                expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--now"))
                try await Self.learn(2, town, "alice")
                #expect(try await Self.isServed(established), "an open connection continues")
                #expect(try await !Self.isServed(Self.transport(town, accepting: pins[0])))
                #expect(try await Self.isServed(Self.transport(town, accepting: pins[1])))
                #expect(try Self.profile(town, "alice").pins[0] == Pin(pins[1].key, tier: .leaf))

                let certificate = try town.bytes("server/tls/server.pem")
                let again = try await town.signetd("rotate", "tls", "--data", "server", "--now")
                expect(75, again, "bob knows neither key of the next version")
                #expect(again.complaint.contains("they would be locked out"), "\(again.errors)")
                #expect(try town.bytes("server/tls/server.pem") == certificate)
                expect(64, try await town.signetd("rotate", "tls", "--data", "server", "--leave-behind"))
                expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--now", "--leave-behind"))
                try await Self.learn(3, town, "alice")
                let late = try await town.signet("bob", "pins", "update")
                expect(1, late, "bob was offline for both")
                #expect(late.errors.contains("new directory file"), "\(late.errors)")
            }
        }
    }

    /// The rule is in the log with the pins: it reaches clients whose directory files are older, and stays when the keys change.
    @Test func noRequestIsSentThroughAProxyThatTheDirectoryRefuses() async throws {
        try await Town.with { town in
            let proxy = ["https_proxy": "http://proxy.test:3128", "no_proxy": "", "NO_PROXY": ""]
            try await town.serving(.signetd, Self.options) { _ in
                expect(
                    0, try await town.signet("alice", "lookup", Town.bob, environment: proxy),
                    "by default it is only recorded")
                expect(64, try await town.signetd("rotate", "tls", "--data", "server", "--proxies", "refuse"))
                expect(
                    0,
                    try await town.signetd(
                        "rotate", "tls", "--data", "server", "--new-reserve", "--proxies", "refuse"))
                try await Self.learn(2, town, "alice")
                expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--now", "--leave-behind"))
                try await Self.learn(3, town, "alice")
                let refused = try await town.signet("alice", "lookup", Town.bob, environment: proxy)
                #expect(refused.status != 0)
                #expect(refused.complaint.contains("A proxy is set on this device"), "\(refused.errors)")
                expect(0, try await town.signet("alice", "lookup", Town.bob))
            }
        }
    }

    /// As an ACME client with a kept key does: another certificate of the same key at the same path.
    @Test(.timeLimit(.minutes(3))) func aRenewedCertificateOfTheSameKeyIsServedWithoutARestart() async throws {
        try await Town.with { town in
            let pins = try Self.profile(town, "alice").pins
            try await town.serving(.signetd, Self.options) { server in
                let established = try Self.transport(town, accepting: pins[0])
                #expect(try await Self.isServed(established))
                let first = try await Self.serial(server, town)
                try await Self.renew(town, serial: 4711)
                // A half-copied file is not served; the former certificate is.
                try town.write(town.bytes("renewed.pem").prefix(300), to: "server/tls/server.pem")
                expect(0, try await town.signet("bob", "pins", "update"))
                #expect(try await Self.serial(server, town) == first)
                try town.write(town.bytes("renewed.pem"), to: "server/tls/server.pem")
                while try await Self.serial(server, town) == first { try Task.checkCancellation() }
                #expect(try await Self.serial(server, town) == "serial=1267")
                #expect(try await Self.isServed(established), "an open connection continues")
                #expect(try await Self.isServed(Self.transport(town, accepting: pins[0])))
                expect(0, try await town.signet("alice", "lookup", Town.bob))
                #expect(try Self.profile(town, "alice").pins == pins)
            }
        }
    }

    /// As an ACME client that does not keep the key does: every client would be locked out.
    @Test(.timeLimit(.minutes(3))) func aRenewedCertificateOfAnotherKeyIsNotServed() async throws {
        try await Town.with { town in
            let key = try town.bytes("server/tls/server.key")
            let certificate = try town.bytes("server/tls/server.pem")
            let server = try await town.start(.signetd, Self.options)
            let first = try await Self.serial(server, town)
            let other = try await Exit.of(
                URL(filePath: "/bin/sh"),
                ["-c", "openssl ecparam -genkey -name prime256v1 -noout >server/tls/server.key"],
                in: town.folder)
            try #require(other.status == 0)
            try await Self.renew(town, serial: 4711)
            try town.write(town.bytes("renewed.pem"), to: "server/tls/server.pem")
            while try !server.errors.contains("for a key that no client accepts") {
                try #require(try await Self.serial(server, town) == first)
            }
            #expect(try await Self.serial(server, town) == first)
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            #expect(try await Self.ready(server, town).contains("its files cannot be used"))
            try await server.stop()

            let refused = try await town.signetd("run", "--data", "server", "--bind", "127.0.0.1:0")
            expect(65, refused)
            #expect(refused.complaint.contains("renew the certificate for the same key"), "\(refused.errors)")
            try town.write(key, to: "server/tls/server.key")
            try town.write(certificate, to: "server/tls/server.pem")
            try await town.serving(.signetd, Self.options) { server in
                expect(0, try await town.signet("alice", "lookup", Town.bob))
                #expect(try await Self.ready(server, town) == "ready\n")
            }
        }
    }

    /// As on a machine to which nobody has copied the files of a change: clients were told to forget its key.
    @Test(.timeLimit(.minutes(3))) func aServerWithoutTheNewestPinsSaysSo() async throws {
        try await Town.with { town in
            func copy(_ from: String, to target: String) async throws {
                let done = try await Exit.of(
                    URL(filePath: "/bin/sh"), ["-c", "rm -rf \(target) && cp -a \(from) \(target)"], in: town.folder)
                try #require(done.status == 0, "\(done.errors)")
            }
            try await copy("server/tls", to: "before")
            let profile = try town.bytes("server/directory.signet")
            expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--now"))
            try await town.serving(.signetd, Self.options) { server in
                try await Self.learn(2, town, "alice")
                #expect(try await Self.ready(server, town) == "ready\n")
            }
            try await copy("before", to: "server/tls")
            try town.write(profile, to: "server/directory.signet")
            let checked = try await town.signetd("check", "--data", "server")
            expect(65, checked)
            #expect(checked.output.contains("tls/pins is older than the log"), "\(checked.output)")
            try await town.serving(.signetd, Self.options) { server in
                while try !server.errors.contains("refuse this server if its key is not among the newest") {
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(try await Self.ready(server, town).contains("the log shows other or newer pins"))
            }
        }
    }

    /// The next change of an older copy of the files would lock everybody out, and nobody has missed anything.
    @Test(.timeLimit(.minutes(3))) func anOlderCopyOfTheFilesMakesNoOtherVersion() async throws {
        try await Town.with { town in
            func shell(_ script: String) async throws {
                let done = try await Exit.of(URL(filePath: "/bin/sh"), ["-c", script], in: town.folder)
                try #require(done.status == 0, "\(done.errors)")
            }
            try await shell("cp -a server/tls before && cp -p server/directory.signet before.signet")
            expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--new-reserve"))
            try await town.serving(.signetd, Self.options) { _ in
                try await Self.learn(2, town, "alice")
                try await Self.learn(2, town, "bob")
            }
            try await shell("cp -a server/tls newest && cp -p server/directory.signet newest.signet")
            try await shell(
                "rm -r server/tls && cp -a before server/tls && cp -p before.signet server/directory.signet")
            let before = try town.contents("server/tls")
            try await town.serving(.signetd, Self.options) { server in
                let refused = try await town.signetd("rotate", "tls", "--data", "server", "--new-reserve")
                expect(65, refused)
                #expect(refused.complaint.contains("the log has version 2 of the pins"), "\(refused.errors)")
                #expect(try town.contents("server/tls") == before)
                while try await !Self.ready(server, town).contains("the log shows other or newer pins") {
                    try Task.checkCancellation()
                }
                try await shell("cp -p newest/* server/tls && cp -p newest.signet server/directory.signet")
                while try await Self.ready(server, town) != "ready\n" { try Task.checkCancellation() }
                expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--now", "--leave-behind"))
                try await Self.learn(3, town, "alice")
                expect(0, try await town.signet("bob", "lookup", Town.alice))
            }
        }
    }

    /// A start would make others of the same version, which the log does not have.
    @Test(.timeLimit(.minutes(3))) func missingPinsAreNamed_andTheNextVersionFollowsOnTheFileForClients() async throws {
        try await Town.with { town in
            let former = try town.bytes("server/tls/pins")
            expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--new-reserve"))
            try await town.serving(.signetd, Self.options) { _ in
                try await Self.learn(2, town, "alice")
                try await Self.learn(2, town, "bob")
            }
            try FileManager.default.removeItem(at: town["server/tls/pins"])
            let checked = try await town.signetd("check", "--data", "server")
            expect(65, checked)
            #expect(checked.output.contains("tls/pins is missing"), "\(checked.output)")
            let copied = try await town.signetd("backup", "--data", "server", "--to", "backup")
            expect(65, copied)
            #expect(copied.complaint.contains("tls/pins is missing"), "\(copied.errors)")
            try await town.serving(.signetd, Self.options) { server in
                while try await !Self.ready(server, town).contains("the log shows other or newer pins") {
                    try Task.checkCancellation()
                }
                #expect(!town.exists("server/tls/pins"))
                expect(0, try await town.signet("bob", "lookup", Town.alice), "clients know the key")
                #expect(try await Self.ready(server, town).contains("if its key is not among the log's"))
                try town.write(former, to: "server/tls/pins")
                let older = try await town.signetd("rotate", "tls", "--data", "server", "--new-reserve")
                expect(65, older)
                #expect(older.complaint.contains("The pins are lost"), "\(older.errors)")
                try FileManager.default.removeItem(at: town["server/tls/pins"])
                let names = ["server.key", "server.pem"]
                let own = try names.map { try town.bytes("server/tls/\($0)") }
                expect(
                    0,
                    try await town.signetd(
                        "init", "--data", "other", "--origin", "example.org/signet", "--url", "https://localhost:1"))
                for name in names { try town.write(town.bytes("other/tls/\(name)"), to: "server/tls/\(name)") }
                let foreign = try await town.signetd("rotate", "tls", "--data", "server", "--new-reserve")
                expect(65, foreign)
                #expect(foreign.complaint.contains("is not for a key that clients know"), "\(foreign.errors)")
                for (name, bytes) in zip(names, own) { try town.write(bytes, to: "server/tls/\(name)") }
                expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--new-reserve"))
                try await Self.learn(3, town, "alice")
                try await Self.learn(3, town, "bob")
                while try await Self.ready(server, town) != "ready\n" { try Task.checkCancellation() }
            }
            expect(0, try await town.signetd("check", "--data", "server"))
        }
    }

    /// The key is right, and clients would refuse the certificate all the same.
    @Test(.timeLimit(.minutes(3)), arguments: ["another name", "another authority", "expired"])
    func aRenewedCertificateThatClientsRefuseIsNotServed(_ mistake: String) async throws {
        try await Town.with { town in
            let certificate = try town.bytes("server/tls/server.pem")
            let server = try await town.start(.signetd, Self.options)
            let first = try await Self.serial(server, town)
            switch mistake {
            case "another name": try await Self.renew(town, serial: 4711, name: "elsewhere.example")
            case "another authority": try await Self.renew(town, serial: 4711, authority: "other")
            default: try await Self.renew(town, serial: 4711, days: -1)
            }
            try town.write(town.bytes("renewed.pem"), to: "server/tls/server.pem")
            while try !server.errors.contains("clients would refuse the certificate in tls/server.pem") {
                try #require(try await Self.serial(server, town) == first)
            }
            #expect(try await Self.serial(server, town) == first)
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            #expect(try await Self.ready(server, town).contains("clients refuse the certificate"))
            try town.write(certificate, to: "server/tls/server.pem")
            while try await Self.ready(server, town) != "ready\n" { try Task.checkCancellation() }
            try await server.stop()

            // The restart that an operator tries next is no remedy, and says so too.
            try town.write(town.bytes("renewed.pem"), to: "server/tls/server.pem")
            let checked = try await town.signetd("check", "--data", "server")
            expect(65, checked)
            #expect(
                checked.output.contains("wrong: clients refuse the certificate in tls/server.pem"), "\(checked.output)")
            expect(
                0, try await town.signetd("backup", "--data", "server", "--to", "backup"), "the rest is worth a copy")
            expect(0, try await town.signetd("restore", "--from", "backup", "--data", "restored"))
            let again = try await town.start(.signetd, Self.options)
            while try !again.errors.contains("clients refuse the certificate in tls/server.pem: renew it") {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await Self.unverifiedReady(again, town).contains("clients refuse the certificate"))
            try town.write(certificate, to: "server/tls/server.pem")
            while try await Self.ready(again, town) != "ready\n" { try Task.checkCancellation() }
            try await again.stop()
        }
    }

    /// The same, of a server whose certificate no client accepts.
    private static func unverifiedReady(_ server: RunningServer, _ town: Town) async throws -> String {
        let arguments = ["--silent", "--insecure", "https://localhost:\(server.port)/ready"]
        return try await Exit.of(URL(filePath: "/usr/bin/curl"), arguments, in: town.folder).output
    }

    /// Has an authority sign the server's key again, the directory's own one if no other is named.
    static func renew(
        _ town: Town, serial: Int, name: String = "localhost", days: Int = 90, authority: String? = nil
    ) async throws {
        let script = """
            set -e
            printf '%s\\n' basicConstraints=critical,CA:FALSE keyUsage=critical,digitalSignature \
                extendedKeyUsage=serverAuth subjectAltName=DNS:\(name) authorityKeyIdentifier=keyid >extensions
            openssl req -new -key server/tls/server.key -subj /CN=localhost -out request
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=other -keyout other.key -out other.pem
            openssl x509 -req -in request -CA \(authority ?? "server/tls/ca").pem -CAkey \(authority ?? "server/tls/ca").key \
                -set_serial \(serial) -days \(days) -extfile extensions -out renewed.pem
            """
        let made = try await Exit.of(URL(filePath: "/bin/sh"), ["-c", script], in: town.folder)
        try #require(made.status == 0, "\(made.errors)")
    }

    /// The serial number of the certificate that a new connection gets.
    static func serial(_ server: RunningServer, _ town: Town) async throws -> String {
        let script = "openssl s_client -connect localhost:\(server.port) 2>/dev/null | openssl x509 -noout -serial"
        let shown = try await Exit.of(URL(filePath: "/bin/sh"), ["-c", script], in: town.folder)
        return try #require(shown.lines.first, "\(shown.errors)")
    }

    /// What the server says at `/ready`.
    static func ready(_ server: RunningServer, _ town: Town) async throws -> String {
        let arguments = ["--silent", "--cacert", "server/tls/ca.pem", "https://localhost:\(server.port)/ready"]
        return try await Exit.of(URL(filePath: "/usr/bin/curl"), arguments, in: town.folder).output
    }

    @Test func aReserveKeyCanBeReplaced() async throws {
        try await Town.with { town in
            let pins = try Self.profile(town, "alice").pins
            expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--new-reserve"))
            try await town.serving(.signetd, Self.options) { _ in
                try await Self.learn(2, town, "alice")
                let now = try Self.profile(town, "alice").pins
                #expect(now[0] == pins[0])
                #expect(!now.contains { $0.key == pins[1].key })
            }
        }
    }

    /// The file was replaced: the server would use a key that no client has as a pin.
    @Test func aReserveKeyThatClientsDoNotKnowIsNotUsed() async throws {
        try await Town.with { town in
            let before = try town.bytes("server/tls/server.pem")
            try town.write(P256.Signing.PrivateKey().pemRepresentation.utf8, to: "server/tls/backup.key")
            let exit = try await town.signetd("rotate", "tls", "--data", "server", "--now")
            #expect(exit.status != 0)
            #expect(exit.complaint.contains("not the reserve key that clients know"), "\(exit.errors)")
            #expect(try town.bytes("server/tls/server.pem") == before)
        }
    }

    /// As a copy on a full disk leaves them.
    @Test(arguments: ["backup.key", "ca.key", "ca.pem", "server.pem"])
    func aDamagedFileIsNamed(name: String) async throws {
        try await Town.with { town in
            let whole = try town.bytes("server/tls/\(name)")
            for damaged in [[], Array(whole.prefix(whole.count / 2))] {
                try town.write(damaged, to: "server/tls/\(name)")
                let before = try town.contents("server")
                let exit = try await town.signetd("rotate", "tls", "--data", "server", "--now")
                expect(65, exit)
                #expect(exit.complaint.contains("server/tls/\(name) cannot be read"), "\(exit.errors)")
                #expect(try town.contents("server") == before)
            }
            try town.write(whole, to: "server/tls/\(name)")
            expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--now"))
        }
    }

    /// Everybody would be locked out. The key of another authority lies there, such as that of before `--lost`.
    @Test func theKeyOfAnotherAuthorityMakesNoCertificate() async throws {
        try await Town.with { town in
            expect(
                0,
                try await town.signetd(
                    "init", "--data", "other", "--origin", "example.org/other", "--url", "https://localhost:1"))
            let own = try town.bytes("server/tls/ca.key")
            try town.write(town.bytes("other/tls/ca.key"), to: "server/tls/ca.key")
            let before = try town.contents("server/tls")
            for options in [["--now"], ["--renew"]] {
                let exit = try await Program.signetd.run(
                    ["rotate", "tls", "--data", "server"] + options, in: town.folder)
                expect(65, exit)
                #expect(exit.complaint.contains("clients would refuse the new certificate"), "\(exit.errors)")
                #expect(try town.contents("server/tls") == before)
            }
            try town.write(own, to: "server/tls/ca.key")
            expect(64, try await town.signetd("rotate", "tls", "--data", "server", "--renew", "--lost"))
            expect(
                64,
                try await town.signetd(
                    "rotate", "tls", "--data", "server", "--renew", "--certificate", "server/tls/server.pem"))
            expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--renew"))
            var after = try town.contents("server/tls")
            #expect(after["server.pem"] != before["server.pem"])
            after["server.pem"] = before["server.pem"]
            after["ca.key"] = before["ca.key"]
            #expect(after == before, "nothing else has changed")
            try await town.serving(.signetd, Self.options) { _ in
                expect(0, try await town.signet("alice", "lookup", Town.bob))
            }
        }
    }

    /// A change of TLS keys was interrupted, before and after its files were complete.
    @Test func theKeysOfAnInterruptedChangeAreNotBesideTheOthers() async throws {
        try await Town.with { town in
            let names = ["server.key", "backup.key", "ca.key", "server.pem"]
            for folder in ["tls.next", "tls.next.new"] {
                try FileManager.default.createDirectory(
                    at: town["server/\(folder)"], withIntermediateDirectories: false)
                for name in names { try town.write("a \(name)".utf8, to: "server/\(folder)/\(name)") }
            }
            expect(
                0, try await town.signetd("backup", "--data", "server", "--to", "backup", "--secrets", "secrets"))
            let (backup, secrets) = (try town.contents("backup").keys, try town.contents("secrets").keys)
            #expect(backup.filter { $0.hasPrefix("tls.next") } == ["tls.next/server.pem"])
            #expect(secrets.filter { $0.hasPrefix("tls.next") } == ["tls.next/server.key"])
            #expect(!backup.contains { $0.hasSuffix(".key") }, "\(backup)")
        }
    }

    /// Puts the files of an interrupted rotation where the next start finds them.
    @Test func anInterruptedChangeIsCompletedByTheNextStart() async throws {
        try await Town.with { town in
            let before = try town.contents("server/tls")
            expect(0, try await town.signetd("rotate", "tls", "--data", "server", "--now"))
            let after = try town.contents("server/tls")
            try FileManager.default.createDirectory(at: town["server/tls.next"], withIntermediateDirectories: false)
            for (name, bytes) in before { try town.write(bytes, to: "server/tls/\(name)") }
            // The key is in place, and the certificate is not.
            for name in ["server.pem", "backup.key", "pins", "pins.before"] {
                try town.write(try #require(after[name]), to: "server/tls.next/\(name)")
            }
            try town.write(try #require(after["server.key"]), to: "server/tls/server.key")
            try await town.serving(.signetd, Self.options) { _ in try await Self.learn(2, town, "alice") }
            #expect(try town.contents("server/tls") == after)
            #expect(!town.exists("server/tls.next"))
        }
    }

    /// The log's key has changed meanwhile, too. Somebody else's pins in such a file are not in the log.
    @Test(.timeLimit(.minutes(3))) func whoMissedTwoChangesTakesTheOperatorsDirectoryFile() async throws {
        try await Town.with { town in
            for (version, options) in [(2, []), (3, ["--leave-behind"])] as [(UInt64, [String])] {
                expect(
                    0,
                    try await Program.signetd.run(
                        ["rotate", "tls", "--data", "server", "--now"] + options, in: town.folder))
                try await town.serving(.signetd, Self.options) { _ in try await Self.learn(version, town, "bob") }
            }
            expect(0, try await town.signetd("rotate", "log-key", "--data", "server"))
            let given = try DirectoryProfile(decoding: town.bytes("server/directory.signet"))
            let newest = try #require(given.mark?.version)
            try await town.serving(.signetd, Self.options) { _ in
                let refused = try await town.signet("alice", "lookup", Town.bob)
                expect(1, refused)
                #expect(refused.errors.contains("'signet pins accept FILE'"), "\(refused.errors)")
                let before = try town.bytes("alice/directory")
                let own = Pin(SPKIPin(hashing: [66]), tier: .leaf, isBackup: true)
                let forged = DirectoryProfile(
                    url: given.url, server: ServerTrust(root: given.server.root, pins: given.pins + [own]),
                    mark: given.mark, trust: given.trust)
                try town.write(forged.encoded, to: "forged.signet")
                for _ in 0..<50 where try Self.profile(town, "alice").mark?.version != newest {
                    _ = try await town.signet("alice", "pins", "accept", "forged.signet")
                }
                #expect(try Self.profile(town, "alice").server == given.server, "the log's pins, not those of the file")
                try town.write(before, to: "alice/directory")
                expect(0, try await town.signet("alice", "pins", "accept", "server/directory.signet"))
                #expect(try Self.profile(town, "alice").server == given.server)
                expect(0, try await town.signet("alice", "lookup", Town.bob))
                let again = try await town.signet("alice", "pins", "accept", "server/directory.signet")
                expect(1, again)
                #expect(again.complaint.contains("no newer than the pins in use"), "\(again.errors)")
            }
        }
    }

    @Test func theRecoveryKeyRestoresAccessToAServerThatLostItsKeys() async throws {
        try await Town.with { town in
            let made = try await town.signetd("recovery-key", "make", "offline.key", "--origin", "example.org/signet")
            expect(0, made)
            let key = try #require(made.lines.first)
            expect(
                0, try await town.signetd("rotate", "tls", "--data", "server", "--new-reserve", "--recovery-key", key))
            try await town.serving(.signetd, Self.options) { _ in try await Self.learn(2, town, "alice") }

            let secrets = ["backup.key", "ca.key"]
            func takeAway() throws {
                for name in secrets { try FileManager.default.removeItem(at: town["server/tls/\(name)"]) }
            }
            try takeAway()
            let lost = try await town.signetd("rotate", "tls", "--data", "server", "--lost")
            expect(0, lost)
            for name in secrets {
                let line = "move this away from the server: server/tls/\(name)"
                #expect(lost.lines.contains(line), "\(lost.output)")
            }
            let checked = try await town.signetd("check", "--data", "server")
            expect(0, checked, "what is not in its place is no fault")
            #expect(checked.lines.contains("to be moved away from the server: tls/backup.key, tls/ca.key"))
            try takeAway()
            let moved = try await town.signetd("check", "--data", "server")
            expect(0, moved)
            #expect(!moved.output.contains("moved away"), "\(moved.output)")
            try await Self.sign("server/tls/pins", town)
            try await town.serving(.signetd, Self.options) { _ in
                expect(1, try await town.signet("alice", "pins", "update"), "her pins match no server")
                for _ in 0..<50 where try Self.profile(town, "alice").mark?.version != 3 {
                    _ = try await town.signet("alice", "pins", "accept", "pins.signed")
                }
                #expect(try Self.profile(town, "alice").mark?.version == 3)
                expect(0, try await town.signet("alice", "lookup", Town.bob))
                let again = try await town.signet("alice", "pins", "accept", "pins.signed")
                expect(1, again)
                #expect(again.complaint.contains("no newer than the pins in use"), "\(again.errors)")

                let stranger = try await town.signet("bob", "pins", "accept", "pins.signed")
                expect(1, stranger, "bob's pins name no recovery key")
                #expect(stranger.complaint.contains("named no recovery key"), "\(stranger.errors)")
                try await Self.useStolenKey(town)
            }
        }
    }

    private static func sign(_ pins: String, _ town: Town) async throws {
        let signed = try await town.signetd("recovery-key", "sign", pins, "--key", "offline.key")
        expect(0, signed)
        try town.write(signed.output.utf8, to: "pins.signed")
    }

    /// An attacker with only the recovery key adds a key of their own to the server's.
    private static func useStolenKey(_ town: Town) async throws {
        let newest = try DirectoryPins(decoding: town.bytes("server/tls/pins"))
        let own = Pin(SPKIPin(hashing: [66]), tier: .leaf, isBackup: true)
        let forged = DirectoryPins(
            origin: newest.origin, version: newest.version + 1, time: newest.time,
            server: ServerTrust(root: newest.server.root, pins: newest.server.pins + [own]))
        try town.write(forged.text, to: "forged")
        try await sign("forged", town)
        let before = try town.bytes("alice/directory")
        let refused = try await town.signet("alice", "pins", "accept", "pins.signed")
        expect(1, refused)
        #expect(refused.complaint.contains("does not have version 4 of its server's pins"), "\(refused.errors)")
        #expect(try town.bytes("alice/directory") == before)
    }
}
