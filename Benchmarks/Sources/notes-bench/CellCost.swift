// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
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
    private let combined: [UInt8]

    init(_ byteCount: Int) throws {
        plaintext = [UInt8](repeating: 1, count: byteCount)
        cell = try Seal.seal(plaintext, key: key, context: context)
        box = try AES.GCM.seal(plaintext, using: key, nonce: nonce, authenticating: context)
        combined = Array(box.combined ?? Data())
    }

    func report() throws {
        let timings = try interleaved(
            rounds: 100, repetitions: plaintext.count > 10_000 ? 200 : 1000,
            [
                Candidate("bare seal, bytes to bytes") { keep(try bytesOfSealing()) },
                Candidate("seal") { keep(try Seal.seal(plaintext, key: key, context: context)) },
                Candidate("bare open, bytes to bytes") { keep(try bytesOfOpening()) },
                Candidate("open") { keep(try Seal.open(cell, key: key, context: context)) },
                Candidate("bare seal, the call alone") { keep(try bareSeal()) },
                Candidate("bare open, the call alone") { keep(try bareOpen()) },
            ])
        Report.title("Notes of \(plaintext.count) bytes")
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
        }
        for (name, place, call) in [("seal", 1, 4), ("open", 3, 5)] { report(name, timings, place, call) }
    }

    private func report(_ name: String, _ timings: Timings, _ place: Int, _ call: Int) {
        if plaintext.count > 10_000 {
            let ratio = timings.median { $0[place] / $0[place - 1] }
            Report.goal("\(name) ÷ bare, bytes to bytes, median of rounds", ratio, atMost: 1.3, isPeer: true)
            Report.line("\(name) ÷ the call alone, median of rounds", timings.median { $0[place] / $0[call] }, "")
        } else {
            let above = timings.median { ($0[place] - $0[call]) / 1000 }
            Report.goal("\(name) above the call alone, µs, median of rounds", above, atMost: 3)
        }
    }

    private func bytesOfSealing() throws -> [UInt8] { Array(try bareSeal().combined ?? Data()) }

    private func bytesOfOpening() throws -> [UInt8] {
        Array(try AES.GCM.open(AES.GCM.SealedBox(combined: combined), using: key, authenticating: context))
    }

    private func bareSeal() throws -> AES.GCM.SealedBox {
        try AES.GCM.seal(plaintext, using: key, nonce: nonce, authenticating: context)
    }

    private func bareOpen() throws -> some Sequence<UInt8> {
        try AES.GCM.open(box, using: key, authenticating: context)
    }
}
