import Crypto
import Measuring
import SecureCell

/// One note's content through a Seal cell and through AES-256-GCM alone, with the same associated data.
struct CellCost {
    private let plaintext: [UInt8]
    private let key = SymmetricKey(size: .bits256)
    /// As long as the context of a revision.
    private let context = [UInt8](repeating: 7, count: 120)
    private let nonce = AES.GCM.Nonce()
    private let cell: [UInt8]
    private let box: AES.GCM.SealedBox

    init(_ byteCount: Int) throws {
        plaintext = [UInt8](repeating: 1, count: byteCount)
        cell = try Seal.seal(plaintext, key: key, context: context)
        box = try AES.GCM.seal(plaintext, using: key, nonce: nonce, authenticating: context)
    }

    func report() throws {
        let timings = try interleaved(
            rounds: 100, repetitions: plaintext.count > 10_000 ? 200 : 1000,
            [
                Candidate("bare AES.GCM.seal", { keep(try bareSeal()) }),
                Candidate("seal", { keep(try Seal.seal(plaintext, key: key, context: context)) }),
                Candidate("bare AES.GCM.open", { keep(try bareOpen()) }),
                Candidate("open", { keep(try Seal.open(cell, key: key, context: context)) }),
            ])
        Report.title("Notes of \(plaintext.count) bytes")
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
        }
        for (name, place) in [("seal", 1), ("open", 3)] {
            if plaintext.count > 10_000 {
                Report.goal(
                    "\(name) ÷ bare, median of rounds", timings.median { $0[place] / $0[place - 1] }, atMost: 1.3)
            } else {
                Report.goal(
                    "\(name) above bare, µs, median of rounds",
                    timings.median { ($0[place] - $0[place - 1]) / 1000 }, atMost: 3)
            }
        }
    }

    private func bareSeal() throws -> AES.GCM.SealedBox {
        try AES.GCM.seal(plaintext, using: key, nonce: nonce, authenticating: context)
    }

    private func bareOpen() throws -> some Sequence<UInt8> {
        try AES.GCM.open(box, using: key, authenticating: context)
    }
}
