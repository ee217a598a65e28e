// SPDX-License-Identifier: Apache-2.0

import LogFencing
import LogWitness
import Testing
import TransparencyLog

@testable import SignetServer

/// What a process that would lead makes of what the witnesses say.
struct WitnessHeadsTests {
    private func head(_ size: UInt64, _ name: Policy.Name) -> SeenHead {
        SeenHead(TreeHead(size: size, root: .emptyTree), in: .witness(name))
    }

    @Test func whatAWitnessHasCosignedBeyondTheMemoryIsSeenUnderItsName() throws {
        let names = try (1...4).map { try #require(Policy.Name(Array("w\($0)".utf8))) }
        let answers: [Policy.Name: WitnessMemory] = [
            names[0]: .ahead(size: 9), names[1]: .ahead(size: 7), names[2]: .notAhead(size: 5, at: nil),
            names[3]: .otherTree,
        ]
        func heads(disregarding disregarded: Set<Policy.Name>) -> Set<SeenHead> {
            Set(SharedEngines.heads(of: answers, disregarding: disregarded, asked: 5, now: 7))
        }
        #expect(heads(disregarding: []) == [head(9, names[0]), head(5, names[3])])
        // One that lies is left out, and the others are not.
        #expect(heads(disregarding: [names[0]]) == [head(5, names[3])])
        #expect(heads(disregarding: [names[3]]) == [head(9, names[0])])
    }
}
