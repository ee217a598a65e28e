// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Testing
import TransparencyLog

struct QuorumStrengthTests {
    private func policy(_ witnessCount: Int, _ rules: String) throws -> Policy {
        var text: [UInt8] = []
        for number in 0..<witnessCount {
            let key = try signer("w\(number).example", .cosignatureV1, seed: UInt8(number)).verifierKey
            text += Array("witness w\(number) ".utf8) + key.encoded + [0x0A]
        }
        // Of a kind that we do not verify.
        for number in 0..<2 {
            text += Array("witness unknown\(number) u\(number).example+00000000+".utf8)
            text += Base64.encode([0x05, UInt8(number)]) + [0x0A]
        }
        return try Policy(decoding: text + Array(rules.utf8))
    }

    /// By trying every set of witnesses.
    private func counted(_ policy: Policy) -> QuorumStrength {
        let names = policy.witnesses.map(\.name)
        let sets = (0..<1 << names.count).map { bits in
            Set(names.indices.filter { bits >> $0 & 1 == 1 }.map { names[$0] })
        }
        let meeting = sets.filter(policy.isQuorumMet)
        let stopping = sets.filter { !policy.isQuorumMet(by: Set(names).subtracting($0)) }
        let counting = names.filter { name in
            meeting.contains { $0.contains(name) && !policy.isQuorumMet(by: $0.subtracting([name])) }
        }
        return QuorumStrength(
            counting: counting, fewestToMeet: meeting.map(\.count).min() ?? 0,
            fewestToStop: stopping.map(\.count).min() ?? 0)
    }

    @Test(
        arguments: [
            "quorum none\n", "quorum w3\n", "group g any w0 w1 w2\nquorum g\n", "group g 2 w0 w1 w2 w5\nquorum g\n",
            "group g all w0 w1 w2 w3 w4 w5\nquorum g\n",
            "group x 2 w0 w1 w2\ngroup y any w3 w4 w5\ngroup z all x y\nquorum z\n",
            "group x 2 w0 w1 w2\ngroup y any w3 w4 w5\ngroup z any x y\nquorum z\n",
            "group x all w0 w1\ngroup y all w2 w3 w4\ngroup z 2 x y w5\nquorum z\n",
            "group x all w0 w1\ngroup y 1 x\ngroup unused all y w3\ngroup z 2 w2 w4 w5\nquorum z\n",
            "group g any w0 unknown0\nquorum g\n", "group g 2 w0 w1 w2 unknown0 unknown1\nquorum g\n",
            "group x all w0 unknown0\ngroup z any w1 x w2\nquorum z\n",
            "group x 2 w0 w1 unknown0\ngroup y 2 w2 unknown1\ngroup z 2 x y w3 w4\nquorum z\n",
        ])
    func quorumStrengthAgreesWithTryingEverySet(rules: String) throws {
        let policy = try policy(6, rules)
        #expect(policy.quorumStrength == counted(policy))
    }
}
