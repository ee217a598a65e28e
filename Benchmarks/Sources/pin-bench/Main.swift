// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import Measuring
import PinScenarios

/// What pinning costs: the pin step alone, and whole connections beside ones that NIOSSL verifies by itself.
@main struct PinBench {
    static func main() async throws {
        guard let scenario = try PinScenario.all(at: Date()).first(where: { $0.row == "01" }) else { return }
        let server = try await BenchServer(scenario)
        let connections = try ConnectionCost(scenario, server)
        let unpinned = try await connections.report()
        try StepCost(scenario).report(besideConnection: unpinned)
    }
}
