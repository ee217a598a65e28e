// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import PinScenarios
import PinnedChains
import SeededRandomness
import Testing

/// The rows of the matrix, given to the verifier without a network.
@Suite struct ScenarioTests {
    static let moment = Date(timeIntervalSince1970: 1_800_000_000)
    static let now: UInt64 = 1_800_000_000
    static let scenarios = (try? PinScenario.all(at: moment)) ?? []
    static let host = ServerName.dns(Array(PinScenario.host.utf8))

    static func verdict(
        _ scenario: PinScenario, presented: [[UInt8]]? = nil, mode: PinMode = .enforce, anchors: [[UInt8]]? = nil
    ) async throws -> Result<PinVerdict, ChainRefusal> {
        let verifier = ChainVerifier(
            policy: try scenario.policy(mode: mode), anchors: TrustAnchors(readable: anchors ?? scenario.anchors))
        do throws(ChainRefusal) {
            return .success(try await verifier.verify(presented ?? scenario.presented, for: host, at: now))
        } catch { return .failure(error) }
    }

    @Test func theMatrixHasThirtyRows() {
        #expect(Self.scenarios.count(where: \.mustPass) == 13)
        #expect(Self.scenarios.count { !$0.mustPass } == 17)
    }

    @Test(arguments: scenarios) func everyRowHasItsVerdict(_ scenario: PinScenario) async throws {
        switch try await Self.verdict(scenario) {
        case .success(let verdict):
            #expect(scenario.mustPass)
            guard case .pinned(let match) = verdict.basis else { throw Unpinned() }
            #expect(verdict.path.keys[match.depth] == match.pin.key)
            #expect(try verdict.path.certificates.map { try CertificateFields($0).pin } == verdict.path.keys)
            #expect(scenario.anchors.contains(try #require(verdict.path.certificates.last)))
        case .failure(let refusal):
            #expect(!scenario.mustPass, "\(refusal.reason)")
        }
    }

    struct Unpinned: Error {}

    @Test(arguments: [
        ("06", ChainRefusal.Reason.noPinMatched), ("20", .noPinMatched), ("21", .noPinMatched),
        ("22", .noPinMatched), ("23", .noPinMatched), ("24", .untrusted), ("25", .untrusted), ("26", .untrusted),
        ("27", .path(.expired(depth: 0))), ("28", .path(.notYetValid(depth: 0))), ("29", .path(.otherName)),
        ("30", .path(.notForServers(depth: 0))), ("31", .path(.notAnAuthority(depth: 1))), ("32", .untrusted),
        ("33", .tooManyCertificates(42)), ("35", .noPinMatched), ("36", .noPinMatched),
    ]) func aRefusalStatesItsReason(row: String, reason: ChainRefusal.Reason) async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == row })
        guard case .failure(let refusal) = try await Self.verdict(scenario) else { throw Unpinned() }
        #expect(refusal.reason == reason)
    }

    @Test func aRefusalListsEveryCandidatePath() async throws {
        let bridge = try #require(Self.scenarios.first { $0.row == "36" })
        guard case .failure(let refusal) = try await Self.verdict(bridge) else { throw Unpinned() }
        #expect(Set(refusal.candidates.map(\.fault)) == [nil, .tooLong(depth: 2)])
        #expect(refusal.presented.count == bridge.presented.count)
    }

    // MARK: Properties

    @Test(arguments: scenarios) func theOrderAndRepetitionOfCertificatesDoNotChangeTheVerdict(
        _ scenario: PinScenario
    ) async throws {
        let expected = try await Self.verdict(scenario).isAccepted
        var random = SeededGenerator(seed: 5)
        for _ in 0..<8 {
            var presented = Array(scenario.presented.dropFirst()).shuffled(using: &random)
            if let copy = presented.randomElement(using: &random), presented.count < 9 { presented.append(copy) }
            if presented.count < 9 { presented.append(scenario.presented[0]) }
            let verdict = try await Self.verdict(scenario, presented: [scenario.presented[0]] + presented)
            #expect(verdict.isAccepted == expected)
        }
    }

    /// Row 32 lacks a genuine certificate: with that one appended, the genuine chain is complete and accepted.
    @Test(arguments: scenarios.filter { !$0.mustPass && $0.row != "32" })
    func appendedCertificatesNeverTurnARefusalIntoAnAcceptance(_ scenario: PinScenario) async throws {
        let pool = Array(Set(Self.scenarios.flatMap(\.presented) + Self.scenarios.flatMap(\.anchors)))
            .sorted { $0.lexicographicallyPrecedes($1) }
        var random = SeededGenerator(seed: 6)
        for _ in 0..<10 {
            let room = max(1, ChainVerifier.maximumCertificateCount - scenario.presented.count)
            let extra = pool.shuffled(using: &random).prefix(Int.random(in: 1...room, using: &random))
            let verdict = try await Self.verdict(scenario, presented: scenario.presented + extra)
            #expect(!verdict.isAccepted)
        }
    }

    @Test(arguments: scenarios) func aChainAcceptedUnderPinsIsTrustedWithoutThem(_ scenario: PinScenario) async throws {
        guard try await Self.verdict(scenario).isAccepted else { return }
        #expect(try await Self.verdict(scenario, mode: .trustOnly).isAccepted)
    }

    @Test(arguments: scenarios) func reportingAcceptsExactlyWhatIsTrusted(_ scenario: PinScenario) async throws {
        let trusted = try await Self.verdict(scenario, mode: .trustOnly).isAccepted
        let reported = try await Self.verdict(scenario, mode: .reportOnly)
        #expect(reported.isAccepted == trusted)
        guard case .success(let verdict) = reported else { return }
        #expect((verdict.basis == .reportOnly) == !scenario.mustPass)
    }

    @Test(arguments: scenarios) func aChainWithoutItsAnchorIsNotTrusted(_ scenario: PinScenario) async throws {
        guard case .success(let verdict) = try await Self.verdict(scenario) else { return }
        let rest = scenario.anchors.filter { $0 != verdict.path.certificates.last }
        let stranger = try #require(Self.scenarios.first { $0.row == "07" }).anchors
        let without = try await Self.verdict(
            scenario, anchors: rest + stranger.filter { !scenario.anchors.contains($0) })
        if case .success(let other) = without { #expect(other.path != verdict.path) }
    }

    /// One more unused bit in the bit string of the signature is another encoding of the same certificate.
    @Test func aSignatureWithUnusedBitsIsRefused() async throws {
        var count = 0
        for scenario in Self.scenarios where scenario.mustPass {
            guard let leaf = scenario.presented.first, let last = leaf.last, last & 1 == 0 else { continue }
            // SEQUENCE of two INTEGERs at the end, of fewer than 128 bytes: the octet before it counts unused bits.
            guard
                let start = leaf.indices.last(where: { index in
                    leaf[index] == 0x30 && index + 2 + Int(leaf[min(index + 1, leaf.count - 1)]) == leaf.count
                        && leaf[index - 3] == 0x03 && leaf[index - 1] == 0
                })
            else { continue }
            var spelled = scenario.presented
            spelled[0][start - 1] = 1
            #expect(try await !Self.verdict(scenario, presented: spelled).isAccepted, "\(scenario.row)")
            count += 1
        }
        #expect(count > 0)
    }

    @Test func noMutationOfAMessageIsAcceptedOrTraps() async throws {
        let scenario = try #require(Self.scenarios.first { $0.row == "01" })
        var random = SeededGenerator(seed: 7)
        for _ in 0..<150 {
            var presented = scenario.presented
            let certificate = Int.random(in: 0..<presented.count, using: &random)
            let byte = Int.random(in: 0..<presented[certificate].count, using: &random)
            presented[certificate][byte] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
            #expect(try await !Self.verdict(scenario, presented: presented).isAccepted)
        }
    }
}

extension Result {
    var isAccepted: Bool { if case .success = self { true } else { false } }
}
