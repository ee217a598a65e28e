// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A machine whose clock is wrong by a year. An epoch that it signed would lock everybody out for as long.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: WrongClock.compiler != nil, "there is no C compiler"))
struct ClockTests {
    private static let options = [
        "--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0", "--republish", "1",
    ]

    private static func ready(_ server: RunningServer, _ town: Town) async throws -> String {
        let arguments = ["--silent", "--cacert", "server/tls/ca.pem", "https://localhost:\(server.port)/ready"]
        return try await Exit.of(URL(filePath: "/usr/bin/curl"), arguments, in: town.folder).output
    }

    @Test func aStartThatIsAYearLaterSignsNothing_untilTheOperatorAcceptsTheClock() async throws {
        try await Town.with { town in
            let clock = try await WrongClock(in: town)
            let before = try town.contents("server/records/log")
            try clock.set(days: 365)
            let run = ["run", "--data", "server"] + Self.options
            let refused = try await Program.signetd.run(run, in: town.folder, environment: clock.environment)
            expect(75, refused)
            #expect(refused.complaint.contains(/this machine's clock is 36[45] days after/), "\(refused.errors)")
            #expect(try town.contents("server/records/log") == before)
            try await town.serving(.signetd, Self.options) { _ in
                expect(0, try await town.signet("alice", "lookup", Town.bob))
            }
        }
    }

    /// What an operator is told who has accepted a wrong clock.
    @Test func anEpochOfTheFutureIsNamed() async throws {
        try await Town.with { town in
            let clock = try await WrongClock(in: town)
            try clock.set(days: 365)
            let wrong = try await RunningServer.start(
                .signetd, ["run", "--data", "server", "--accept-clock"] + Self.options, in: town.folder,
                environment: clock.environment)
            try await wrong.stop()
            let checked = try await town.signetd("check", "--data", "server")
            expect(65, checked)
            #expect(checked.output.contains(/last epoch is 36[45] days in the future/), "\(checked.output)")
            expect(
                0, try await town.signetd("backup", "--data", "server", "--to", "copy"), "what there is can be copied")
            try await town.serving(.signetd, Self.options) { server in
                #expect(try server.errors.contains("the log's last epoch is in the future"))
                #expect(try await Self.ready(server, town).contains("seconds in the future, so clients refuse it"))
                let lookup = try await town.signet("alice", "lookup", Town.bob)
                #expect(lookup.errors.contains("If it is right, the directory's is or was wrong"), "\(lookup.errors)")
            }
        }
    }

    /// The running server would serve a certificate of the future, and clients would refuse it for a year.
    @Test func noTLSKeyIsChangedAYearLater_untilTheOperatorAcceptsTheClock() async throws {
        try await Town.with { town in
            let clock = try await WrongClock(in: town)
            try clock.set(days: 365)
            let before = try town.contents("server/tls")
            let change = ["rotate", "tls", "--data", "server", "--now"]
            try await town.serving(.signetd, Self.options) { _ in
                let refused = try await Program.signetd.run(change, in: town.folder, environment: clock.environment)
                expect(75, refused)
                #expect(refused.complaint.contains(/this machine's clock is 36[45] days after/), "\(refused.errors)")
                #expect(try town.contents("server/tls") == before)
            }
            expect(
                0,
                try await Program.signetd.run(
                    change + ["--accept-clock"], in: town.folder, environment: clock.environment))
            let early = try await town.signetd("check", "--data", "server")
            expect(65, early)
            #expect(early.output.contains("is not valid yet by this machine's clock"), "\(early.output)")
        }
    }

    /// As a clock does that is two days ahead: a log may have been off for so long.
    @Test func aCertificateThatWasMadeTwoDaysLaterIsValid() async throws {
        try await Town.with { town in
            let clock = try await WrongClock(in: town)
            try clock.set(days: 2)
            expect(
                0,
                try await Program.signetd.run(
                    ["rotate", "tls", "--data", "server", "--now"], in: town.folder, environment: clock.environment))
            expect(0, try await town.signetd("check", "--data", "server"))
            try await town.serving(.signetd, Self.options) { _ in
                expect(0, try await town.signet("alice", "lookup", Town.bob))
            }
        }
    }

    /// A change of witnesses was cut off after it was logged, and is completed nine days later. No server starts before, whatever it accepts.
    @Test func anInterruptedChangeIsCompletedAfterMoreThanAWeek_onceTheOperatorAcceptsTheClock() async throws {
        try await Town.with { town in
            let clock = try await WrongClock(in: town)
            let profile = "server/directory.signet"
            let before = try town.bytes(profile)
            try town.write("group first any clock\nquorum first\n".utf8, to: "list")
            let change = ["rotate", "witnesses", "--data", "server", "list"]
            expect(0, try await Program.signetd.run(change, in: town.folder))
            let after = try town.bytes(profile)
            try town.write(before, to: profile)
            try clock.set(days: 9)
            let start = try await Program.signetd.run(
                ["run", "--data", "server", "--accept-clock"] + Self.options, in: town.folder,
                environment: clock.environment)
            expect(65, start)
            let refused = try await Program.signetd.run(change, in: town.folder, environment: clock.environment)
            expect(75, refused)
            #expect(refused.complaint.contains("run the same command once with --accept-clock"), "\(refused.errors)")
            expect(
                0,
                try await Program.signetd.run(
                    change + ["--accept-clock"], in: town.folder, environment: clock.environment))
            #expect(try town.bytes(profile) == after)
        }
    }

    @Test func aClockThatLeapsUnderARunningServerIsNotFollowed() async throws {
        try await Town.with { town in
            let clock = try await WrongClock(in: town)
            try clock.set(days: 0)
            let server = try await RunningServer.start(
                .signetd, ["run", "--data", "server"] + Self.options, in: town.folder, environment: clock.environment)
            try town.point(to: server.port)
            #expect(try await Self.ready(server, town) == "ready\n")
            try clock.set(days: 365)
            while try await !Self.ready(server, town).contains("clock is 3153") {
                try Task.checkCancellation()
            }
            expect(0, try await town.signet("alice", "lookup", Town.bob), "its log goes on with the time that passes")
            try clock.set(days: 0)
            while try await Self.ready(server, town) != "ready\n" { try Task.checkCancellation() }
            try await server.stop()
            expect(0, try await town.signetd("check", "--data", "server"))
        }
    }
}

/// A machine whose clock is wrong by three hours, which is less than a server may be off. Its witnesses know better.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: WrongClock.compiler != nil, "there is no C compiler"))
struct WitnessedClockTests {
    private static let hours = 3 * 3600

    /// The attack succeeds while no witness is asked: the server signs an epoch of three hours later, and people are locked out for as long.
    @Test func aStartThatIsThreeHoursAheadOfItsWitnessesSignsNothing() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            let clock = try await WrongClock(in: town)
            federation.environment = clock.environment
            expect(0, try await federation.register("alice"))
            try await federation.stop("server")
            let before = try town.contents("server/records/log")
            try clock.set(seconds: Self.hours)
            let refused = try await Program.signetd.run(
                ["run", "--data", "server", "--bind", federation.address], in: town.folder,
                environment: clock.environment)
            expect(75, refused)
            #expect(
                refused.complaint.contains(/is (3|2) hours ahead of the time that a quorum/), "\(refused.errors)")
            #expect(try town.contents("server/records/log") == before)
            try clock.set(seconds: 0)
            try await federation.start("server")
            expect(0, try await federation.register("bob"))
        }
    }

    /// The attack: boots without a network, and with a clock days ahead. What was logged then was published when the witnesses answered, and
    /// everybody was locked out for days: of the first start the epoch, and of a second one the time of the checkpoint that the first had signed.
    @Test func aStartWithAWrongClockBeforeItsWitnessesLocksNobodyOut() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            let clock = try await WrongClock(in: town)
            federation.environment = clock.environment
            expect(0, try await federation.register("alice"))
            for name in ["server"] + Federation.witnesses { try await federation.stop(name) }
            for days in [2, 2, 6] {
                try clock.set(days: days)
                try await federation.start("server")
                let early = try await federation.registerOnce("bob")
                #expect(early.status != 0, "nobody has seen that")
                try await federation.stop("server")
            }
            try clock.set(days: 8)
            let late = try await Program.signetd.run(
                ["run", "--data", "server", "--bind", federation.address], in: town.folder,
                environment: clock.environment)
            expect(75, late, "a start signs nothing that makes a later clock less wrong")
            for name in Federation.witnesses { try await federation.start(name) }
            try clock.set(seconds: 0)
            try await federation.start("server")
            expect(0, try await federation.register("carol"))
            expect(0, try await town.signet("alice", "lookup", "carol@example.org"))
            try await federation.stop("server")
            expect(0, try await town.signetd("check", "--data", "server"))
        }
    }

    /// Stops what is running of a federation with an auditor, and starts all of it two hours later.
    private func startTwoHoursLater(_ federation: Federation) async throws {
        let clock = try await WrongClock(in: federation.town)
        try clock.set(seconds: 2 * 3600)
        (federation.environment, federation.sharesEnvironment) = (clock.environment, true)
        for name in ["server", "auditor"] + Federation.witnesses { try await federation.stop(name) }
        for name in Federation.witnesses + ["auditor", "server"] { try await federation.start(name) }
    }

    /// The auditor cosigned no old epoch, and the log ended no epoch of now before a quorum with the auditor had named the time.
    @Test func aLogThatNeedsAnAuditorGoesOnAfterTwoHours() async throws {
        try await Federation.with { federation in
            expect(0, try await federation.register("alice"))
            try await startTwoHoursLater(federation)
            expect(0, try await federation.register("bob"))
        }
    }

    /// What the log signed last, the auditor has never seen, so it cannot cosign that once more.
    @Test func aLogThatNeedsAnAuditorSaysWhatItLacks_andGoesOnWithAnAcceptedClock() async throws {
        try await Federation.with { federation in
            let town = federation.town
            expect(0, try await federation.register("alice"))
            try await federation.stop("auditor")
            #expect(try await federation.registerOnce("bob").status != 0)
            try await startTwoHoursLater(federation)
            let arguments = ["--silent", "--cacert", "server/tls/ca.pem", federation.url + "/ready"]
            while true {
                try Task.checkCancellation()
                let ready = try await Exit.of(URL(filePath: "/usr/bin/curl"), arguments, in: town.folder)
                if ready.output.contains("restart the server once with --accept-clock") { break }
            }
            try await federation.stop("server")
            federation.options = ["--accept-clock"]
            try await federation.start("server")
            expect(0, try await federation.register("carol"))
        }
    }

    @Test func aClockThatLeapsThreeHoursAheadOfTheWitnessesIsNotFollowed() async throws {
        try await Federation.with(hasAuditor: false) { federation in
            let town = federation.town
            let clock = try await WrongClock(in: town)
            try await federation.stop("server")
            try clock.set(seconds: 0)
            federation.environment = clock.environment
            try await federation.start("server")
            expect(0, try await federation.register("alice"))
            try clock.set(seconds: Self.hours)
            expect(0, try await federation.register("bob"), "the log goes on by the time that has passed")
            let arguments = ["--silent", "--cacert", "server/tls/ca.pem", federation.url + "/ready"]
            let ready = try await Exit.of(URL(filePath: "/usr/bin/curl"), arguments, in: town.folder)
            #expect(ready.output.contains(/clock is (10[78]|109)\d\d seconds ahead/), "\(ready.output)")
            expect(0, try await town.signet("alice", "lookup", "bob@example.org"))
            try await federation.stop("server")
            try clock.set(seconds: 0)
            expect(0, try await town.signetd("check", "--data", "server"))
        }
    }
}

/// The clock of the processes that are started with this environment.
private struct WrongClock {
    static let compiler = ["/usr/bin/cc", "/usr/bin/clang"].first { FileManager.default.isExecutableFile(atPath: $0) }

    let town: Town

    init(in town: Town) async throws {
        self.town = town
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let source = root.appending(path: "Scripts/clock_offset.c").path()
        let compiler = try #require(Self.compiler)
        let made = try await Exit.of(
            URL(filePath: compiler), ["-shared", "-fPIC", "-O2", "-o", "clock.so", source, "-ldl"], in: town.folder)
        try #require(made.status == 0, "\(made.errors)")
    }

    func set(days: Int) throws { try set(seconds: days * 86_400) }

    func set(seconds: Int) throws { try town.write("\(seconds)".utf8, to: "clock.offset") }

    var environment: [String: String] {
        ["LD_PRELOAD": town["clock.so"].path(), "SIGNET_CLOCK_OFFSET": town["clock.offset"].path()]
    }
}
