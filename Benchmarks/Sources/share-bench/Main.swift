// SPDX-License-Identifier: Apache-2.0

import Crypto
import Measuring
import SecretSharing

/// What sharing a secret costs beside multiplications of a point of P-256 in swift-crypto.
///
/// A multiplication here is swift-crypto's making of a public key: a secret scalar times the generator.
@main struct ShareBench {
    static func main() throws {
        let made = try Sharing()
        let timings = try interleaved(
            rounds: 100, repetitions: 20,
            [
                Candidate("multiplication", made.multiply), Candidate("split 3 of 5", made.split),
                Candidate("verify a share", made.verify), Candidate("combine 3 verified shares", made.combine),
                Candidate("rehearse with 5", made.rehearse), Candidate("prove that a share is held", made.prove),
                Candidate("refresh 3 of 5", made.refresh),
            ])
        Report.title("Sharing a P-256 key among five, any three of whom recover it")
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
            guard candidate > 0 else { continue }
            Report.line("\(timings.names[candidate]), in multiplications", timings.median { $0[candidate] / $0[0] }, "")
        }
        Report.goal("split, µs", timings.fastest(1) / 1000, atMost: 500)
        Report.goal("verify, µs", timings.fastest(2) / 1000, atMost: 50)
        Report.goal("combine, µs", timings.fastest(3) / 1000, atMost: 100)
        Report.goal("rehearse, µs", timings.fastest(4) / 1000, atMost: 2000)
    }
}

/// A dealing and everything that is measured on it.
struct Sharing {
    private let secret = SecretScalar.random()
    private let indices: [ShareIndex]
    private let dealing: Dealing
    private let verified: [VerifiedShare]
    private let held: [HeldShare]
    private let challenge = [UInt8](repeating: 0x5A, count: HoldingProof.challengeByteCount)

    init() throws {
        var generator = SystemRandomNumberGenerator()
        indices = ShareIndex.random(count: 5, using: &generator)
        dealing = try Dealing(of: secret, threshold: 3, at: indices, using: &generator)
        let (dealing, challenge) = (dealing, challenge)
        verified = try dealing.shares.map { share throws in try dealing.commitments.verify(share) }
        held = try dealing.shares.map { share throws in
            try dealing.commitments.verify(share.proveHolding(of: challenge), for: challenge, at: share.index)
        }
    }

    func multiply() throws { keep(try secret.signingKey().publicKey) }

    func split() throws {
        var generator = SystemRandomNumberGenerator()
        keep(try Dealing(of: secret, threshold: 3, at: indices, using: &generator))
    }

    func verify() throws { keep(try dealing.commitments.verify(dealing.shares[0])) }

    func combine() throws { keep(try SecretScalar(combining: Array(verified.prefix(3)))) }

    func rehearse() throws { try dealing.commitments.rehearse(held) }

    func prove() throws { keep(try dealing.shares[0].proveHolding(of: challenge)) }

    func refresh() throws {
        var generator = SystemRandomNumberGenerator()
        keep(try ShareRefresh(of: dealing.commitments, at: indices, using: &generator))
    }
}
