// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogWitness
import Testing
import TransparencyLog

/// The log's side with a running witness of another make: `SIGNET_OTHER_WITNESS` holds its verifier key, a space, and
/// its address. It must serve the log of these tests, whose key `SIGNET_OTHER_WITNESS=show` prints.
struct OtherWitnessTests {
    private static let place = ProcessInfo.processInfo.environment["SIGNET_OTHER_WITNESS"]

    @Test(.enabled(if: place != nil, "no witness of another make is named"))
    func aWitnessOfAnotherMakeCosigns() async throws {
        let log = try TestLog()
        let words = try #require(Self.place).split(separator: " ")
        guard words.count == 2 else { return print("log key: \(String(decoding: log.key.encoded, as: UTF8.self))") }
        let key = try VerifierKey(decoding: Array(words[0].utf8))
        let policy = try policy(log, [(key, Array(words[1].utf8))], "quorum w0\n")
        for sizes in [[1, 2, 8, 8, 20], [20, 31, 50]] as [[UInt64]] {
            // The second one is the log after a restart: it learns the size from the witness.
            let quorum = try WitnessQuorum(policy) { currentTime() }
            for size in sizes {
                let round = await quorum.cosign(try log.note(size), head: try log.head(size)) {
                    log.proof(from: $0, to: size)
                }
                #expect(round.isQuorumMet, "size \(size): \(round.reports[0].outcome)")
                #expect(try policy.verify(round.cosigned(log.note(size))).checkpoint.head.size == size)
            }
        }
        let quorum = try WitnessQuorum(policy) { currentTime() }
        let fork = await quorum.cosign(try log.note(55, branch: 1), head: try log.head(55, branch: 1)) {
            log.proof(from: $0, to: 55, branch: 1)
        }
        #expect(fork.reports[0].outcome == .refused(.inconsistent))
        let back = await quorum.cosign(try log.note(40), head: try log.head(40)) { log.proof(from: $0, to: 40) }
        #expect(back.reports[0].outcome == .ahead(size: 50))
    }
}
