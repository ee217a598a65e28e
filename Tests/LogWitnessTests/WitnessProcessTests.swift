// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogWitness
import ProcessTesting
import SignetServer
import Testing
import TransparencyLog

/// Real witnesses, each a process of its own, and the log's side of this process.
@Suite(.serialized) struct WitnessProcessTests {
    private static let rounds = number("SIGNET_WITNESS_KILL_ROUNDS") ?? 40
    private static let seed = number("SIGNET_KILL_SEED") ?? Int.random(in: 0..<1_000_000)
    /// Mounting a small file system takes root, strace takes the right to trace; elsewhere these tests are skipped.
    private static let mayMount = getuid() == 0 && succeeds("/bin/sh", ["-c", "unshare -m true"])
    private static let mayTrace = succeeds("/bin/sh", ["-c", "strace -o /dev/null true"])

    private let log: TestLog

    init() throws { log = try TestLog() }

    private func round(_ quorum: WitnessQuorum, _ size: UInt64, branch: Int = 0) async throws -> WitnessRoundReport {
        let log = log
        return await quorum.cosign(try log.note(size, branch: branch), head: try log.head(size, branch: branch)) {
            log.proof(from: $0, to: size, branch: branch)
        }
    }

    private func quorum(_ witnesses: [(key: VerifierKey, url: [UInt8]?)], _ rule: String) throws -> WitnessQuorum {
        var configuration = WitnessQuorum.Configuration()
        configuration.timeout = .seconds(60)
        return try WitnessQuorum(policy(log, witnesses, rule), configuration: configuration) { currentTime() }
    }

    @Test(.timeLimit(.minutes(5))) func aQuorumOfTwoOfThreeIsMetWithOneWitnessDownAndNotWithTwo() async throws {
        try await withFolder { folder in
            var running: [(data: WitnessDirectory, key: VerifierKey, process: WitnessProcess, port: Int)] = []
            for number in 0..<3 {
                let data = WitnessDirectory(path: "\(folder)/w\(number)")
                let key = try setUpWitness(data, for: log, name: "witness.example/w\(number)")
                let process = try WitnessProcess(data)
                running.append((data, key, process, try #require(await process.port())))
            }
            let quorum = try quorum(running.map { ($0.key, localURL($0.port)) }, "group g 2 w0 w1 w2\nquorum g\n")
            for size in 1...20 as ClosedRange<UInt64> { #expect(try await round(quorum, size).isQuorumMet) }
            running[0].process.signal(SIGKILL)
            _ = await running[0].process.ended()
            for size in 21...30 as ClosedRange<UInt64> {
                let note = try await round(quorum, size).cosigned(log.note(size))
                #expect(try quorum.policy.verify(note).checkpoint.head == (try log.head(size)))
            }
            running[1].process.signal(SIGKILL)
            _ = await running[1].process.ended()
            let failed = try await round(quorum, 31)
            #expect(!failed.isQuorumMet)
            #expect(failed.reports[0].outcome == .failed(.unreachable))
            #expect(failed.reports[1].outcome == .failed(.unreachable))
            #expect(failed.reports.map(\.outcome.label) == ["unreachable", "unreachable", "cosigned"])
            // Back again, at another port, one of them has eleven sizes to catch up with.
            let back = try WitnessProcess(running[0].data)
            let urls = [
                localURL(try #require(await back.port())), localURL(running[1].port), localURL(running[2].port),
            ]
            let later = try self.quorum(
                zip(running.map(\.key), urls).map { ($0, $1) }, "group g 2 w0 w1 w2\nquorum g\n")
            #expect(try await round(later, 40).isQuorumMet)
            for process in [back, running[2].process] {
                process.signal(SIGTERM)
                #expect(await process.ended().status == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func aWitnessRefusesASecondHistoryAndAnUnknownLog() async throws {
        try await withFolder { folder in
            let data = WitnessDirectory(path: folder + "/w")
            let key = try setUpWitness(data, for: log)
            let process = try WitnessProcess(data)
            let url = localURL(try #require(await process.port()))
            let quorum = try quorum([(key, url)], "quorum w0\n")
            #expect(try await round(quorum, 20, branch: 1).isQuorumMet)
            for size in [20, 30] as [UInt64] {
                let refused = try await round(quorum, size)
                #expect(!refused.isQuorumMet)
                #expect(refused.reports[0].outcome == .refused(.inconsistent))
            }
            #expect(try await round(quorum, 10).reports[0].outcome == .ahead(size: 20))
            let other = try TestLog(name: "log.example/two")
            let unknown = await quorum.cosign(try other.note(9), head: try other.head(9)) {
                other.proof(from: $0, to: 9)
            }
            #expect(unknown.reports[0].outcome == .refused(.unknownLog))
            process.signal(SIGTERM)
            let end = await process.ended()
            #expect(end.complaints.contains("two histories") && end.complaints.contains("size=20"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func cosign_refusesAWitnessOfAnotherAuthority() async throws {
        try await withFolder { folder in
            let data = WitnessDirectory(path: folder + "/w")
            let host = try #require(ServerHost("127.0.0.1"))
            let key = try setUpWitness(data, for: log, tls: .own(hosts: [host]))
            let process = try WitnessProcess(data, isPlain: false)
            let policy = try policy(log, [(key, localURL(try #require(await process.port()), "https"))], "quorum w0\n")
            let stranger = try WitnessQuorum(policy) { currentTime() }
            #expect(try await round(stranger, 9).reports[0].outcome == .failed(.notSecured))
            var configuration = WitnessQuorum.Configuration()
            configuration.additionalRoots = Array(try Data(contentsOf: URL(filePath: data.tls.root)))
            let quorum = try WitnessQuorum(policy, configuration: configuration) { currentTime() }
            for size in [9, 12] as [UInt64] { #expect(try await round(quorum, size).isQuorumMet) }
            process.signal(SIGTERM)
            #expect(await process.ended().status == 0)
        }
    }

    /// Two branches race for one witness, which is killed again and again. The pauses before a kill are the subject of
    /// the test.
    @Test(.timeLimit(.minutes(20))) func aKilledWitnessNeverCosignsTwoHistories() async throws {
        var generator = SplitMix(UInt64(Self.seed))
        try await withFolder { folder in
            let cosigned = CosignedHeads()
            let data = WitnessDirectory(path: folder + "/w")
            let key = try setUpWitness(data, for: log)
            for round in 0..<Self.rounds {
                let process = try WitnessProcess(data)
                let url = localURL(try #require(await process.port(), "the witness did not start again"))
                let sizes = UInt64(round) * 50 / UInt64(Self.rounds)
                let news = cosigned.news()
                let pause = generator.next() % 40_000
                let isEarly = generator.next() % 4 == 0
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in 0..<4 {
                        group.addTask { try await press(key, url, branch: lane % 2, from: sizes, cosigned) }
                    }
                    if !isEarly { for await _ in news { break } }
                    try await Task.sleep(for: .microseconds(pause))
                    process.signal(SIGKILL)
                    try await group.waitForAll()
                }
                #expect(await process.ended().wasKilled)
            }
            try await check(data, key, cosigned)
            #expect(cosigned.all.count >= Self.rounds / 4)
            print("killed \(Self.rounds) times (seed \(Self.seed)): \(cosigned.all.count) heads are one history")
        }
    }

    @Test(.enabled(if: mayMount, "mounting is not permitted here"), .timeLimit(.minutes(5)))
    func aWitnessOnAFullDiskRefusesOrStops_andForgetsNoHead() async throws {
        try await withFolder { folder in
            let disk = folder + "/disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            try #require(succeeds("/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]))
            defer { _ = succeeds("/bin/umount", ["-l", disk]) }
            let data = WitnessDirectory(path: disk + "/w")
            let key = try setUpWitness(data, for: log)
            let cosigned = CosignedHeads()
            let process = try WitnessProcess(data)
            let quorum = try quorum([(key, localURL(try #require(await process.port())))], "quorum w0\n")
            #expect(try await round(quorum, 5).isQuorumMet)
            cosigned.insert(try log.head(5))
            _ = succeeds("/bin/sh", ["-c", "dd if=/dev/zero of=\(disk)/filler bs=4k"])
            // The write-ahead file grows by at least a page with each request until no page is left.
            var refusal: WitnessOutcome?
            for size in Array(6...60) + Array(repeating: UInt64(60), count: 300) as [UInt64] where refusal == nil {
                let answer = try await round(quorum, size)
                if answer.isQuorumMet {
                    cosigned.insert(try log.head(size))
                } else {
                    refusal = answer.reports[0].outcome
                }
            }
            #expect(refusal == .refused(.unavailable(status: 503)))
            try FileManager.default.removeItem(atPath: disk + "/filler")
            process.signal(SIGTERM)
            let end = await process.ended()
            #expect(end.status == 0 || end.status == 74)
            print("full disk: after \(cosigned.all.count) heads 503; ended with \(end.status)")
            try await check(data, key, cosigned)
        }
    }

    @Test(
        .enabled(if: mayTrace, "strace is missing or not permitted here"), .timeLimit(.minutes(5)),
        arguments: ["fdatasync:error=EIO:when=4+", "fdatasync:error=EIO:when=7", "pwrite64:error=EIO:when=20+"])
    func aFailingDiskStopsTheWitness(_ fault: String) async throws {
        try await withFolder { folder in
            let data = WitnessDirectory(path: folder + "/w")
            let key = try setUpWitness(data, for: log)
            let cosigned = CosignedHeads()
            let process = try WitnessProcess(
                data, wrapper: ["/usr/bin/strace", "-f", "-qqq", "-o", "/dev/null", "-e", "inject=\(fault)"])
            if let port = await process.port() { try await press(key, localURL(port), branch: 0, from: 1, cosigned) }
            let end = await process.ended()
            #expect(end.status == 74, "\(end)")
            print("\(fault): stopped after \(cosigned.all.count) heads")
            try await check(data, key, cosigned)
        }
    }

    @Test func start_reportsMissingFilesAndAKeyThatOthersCanUse() async throws {
        try await withFolder { folder in
            let data = WitnessDirectory(path: folder + "/w")
            func end() async throws -> WitnessProcess.End { try await WitnessProcess(data).ended() }
            #expect(try await end().status == 66)
            try setUpWitness(data, for: log)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: data.key)
            #expect(try await end().complaints.contains("witness.key can be used by others"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: data.key)
            try FileManager.default.removeItem(atPath: data.memory)
            let forgetful = try await end()
            #expect(forgetful.status == 65 && forgetful.complaints.contains("make a new witness"))
            #expect(throws: SetupError.self) {
                try WitnessSetup(name: log.key.name, tls: nil).make(data, at: currentTime())
            }
        }
    }

    /// Sends one checkpoint after the other until the witness does not answer, and notes the heads that are cosigned.
    private func press(
        _ key: VerifierKey, _ url: [UInt8], branch: Int, from: UInt64, _ cosigned: CosignedHeads
    ) async throws {
        let quorum = try quorum([(key, url)], "quorum w0\n")
        for size in from...60 {
            let answer = try await round(quorum, size, branch: branch)
            switch answer.reports[0].outcome {
            case .cosigned: cosigned.insert(try log.head(size, branch: branch))
            case .failed: return
            default: continue
            }
        }
    }

    /// A restarted witness knows at least the largest head that was cosigned, and all cosigned heads are one history.
    private func check(_ data: WitnessDirectory, _ key: VerifierKey, _ cosigned: CosignedHeads) async throws {
        #expect(try log.areOneHistory(cosigned.all))
        let process = try WitnessProcess(data)
        let url = localURL(try #require(await process.port(), "the witness did not start again"))
        let largest = cosigned.all.max { $0.size < $1.size } ?? .empty
        let quorum = try quorum([(key, url)], "quorum w0\n")
        let branch = largest == (try log.head(largest.size)) ? 0 : 1
        if largest.size > 1 {
            guard case .ahead(let known) = try await round(quorum, largest.size - 1, branch: branch).reports[0].outcome
            else { throw ForgottenHead() }
            #expect(known >= largest.size)
        }
        #expect(try await round(quorum, 60, branch: branch).isQuorumMet)
        process.signal(SIGTERM)
        #expect(await process.ended().status == 0)
    }

    private struct ForgottenHead: Error {}

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
    }
}

/// The same sequence for one seed.
private struct SplitMix {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
