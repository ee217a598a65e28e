// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import Measuring
import PinScenarios

/// What a pin adds to a path that is verified: cutting the keys out of three certificates, hashing and looking them up.
struct StepCost {
    private let path: [[UInt8]]
    private let rule: PinRule

    init(_ scenario: PinScenario) throws {
        path = scenario.presented + scenario.anchors.prefix(1)
        rule = try PinRule(for: HostPattern(PinScenario.host.utf8), pins: scenario.pins)
    }

    /// - Parameter connection: processor time of a client's unpinned connection, in nanoseconds.
    func report(besideConnection connection: Double) throws {
        let timings = try interleaved(
            rounds: 100, repetitions: 1000, [Candidate("pin step", step), Candidate("keys only", cut)])
        Report.title("The pin step: \(path.count) certificates, \(rule.pins.count) pins")
        Report.line("cutting keys out, fastest round", timings.fastest(1), "ns")
        Report.line("pin step, fastest round", timings.fastest(0), "ns")
        let median = timings.median { $0[0] }
        Report.goal("pin step, median of rounds, µs", median / 1000, atMost: 2)
        Report.goal("pin step ÷ an unpinned client's connection, percent", 100 * median / connection, atMost: 1)
    }

    private func step() throws {
        let keys = try path.map { der throws in try CertificateFields(der).pin }
        keep(rule.match(keys))
    }

    private func cut() throws {
        for der in path { keep(try CertificateFields(der).subjectPublicKeyInfo) }
    }
}
