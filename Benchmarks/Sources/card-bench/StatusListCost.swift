// SPDX-License-Identifier: Apache-2.0

import Crypto
import Measuring
import StrictJSON
import TokenStatusList

/// A status list of a million entries, of which one in a hundred is withdrawn.
enum StatusListCost {
    static func measure() throws {
        let count: Int64 = isTried ? 8000 : 1_000_000
        let issuer = P256.Signing.PrivateKey()
        var draft = try StatusListDraft(count: count)
        var left = count / 100
        while left > 0 {
            let index = Int64.random(in: 0..<count)
            try draft.set(1, at: index)
            left -= 1
        }
        let reference = try StatusReference(uri: "https://club.example/status/1", index: 7)
        let token = try draft.signed(for: reference, at: ShownCredential.now) {
            Array(try issuer.signature(for: $0).rawRepresentation)
        }
        let timings = try interleaved(
            rounds: 10, repetitions: 1,
            [
                Candidate("verified and read") {
                    let list = try StatusListVerifier.verify(
                        token, for: reference, signedBy: issuer.publicKey, at: ShownCredential.now)
                    keep(try list.status(at: 7))
                }
            ])
        Report.title("A status list of \(count) entries, one in a hundred withdrawn")
        Report.line("the signed list", Double(token.count) / 1000, "kB")
        Report.goal("verified, and one entry read, fastest round, ms", timings.fastest(0) / 1e6, atMost: 10)
    }
}
