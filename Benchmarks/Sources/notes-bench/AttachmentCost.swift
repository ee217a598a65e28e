// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Measuring
import NoteLog
import SealedNotes

/// A file of 1 MiB as an attachment, and in the same chunks through AES-256-GCM alone.
struct AttachmentCost {
    private let manifest: AttachmentManifest
    private let chunk = [UInt8](repeating: 1, count: AttachmentManifest.chunkByteCount)
    private let sealed: [[UInt8]]
    private let boxes: [AES.GCM.SealedBox]
    private let combined: [UInt8]
    private let key = SymmetricKey(size: .bits256)
    private let nonce = AES.GCM.Nonce()
    private let associated = [UInt8](repeating: 7, count: 37)

    init() throws {
        guard let blob = NoteID([UInt8](repeating: 4, count: NoteID.byteCount)) else { throw BenchFault.noIdentifier }
        manifest = try AttachmentManifest(blob: blob, byteCount: 1 << 20, name: [1], mediaType: [])
        let (manifest, chunk, key, nonce, associated) = (manifest, chunk, key, nonce, associated)
        sealed = try (0..<manifest.chunkCount).map { index throws in try manifest.seal(chunk, chunk: index) }
        boxes = try (0..<manifest.chunkCount).map { _ throws in
            try AES.GCM.seal(chunk, using: key, nonce: nonce, authenticating: associated)
        }
        combined = Array(boxes[0].combined ?? Data())
    }

    func report() throws {
        let timings = try interleaved(
            rounds: 100, repetitions: 10,
            [
                Candidate("bare chunks sealed", bareSeal), Candidate("attachment sealed", seal),
                Candidate("bare chunks opened", bareOpen), Candidate("attachment opened", open),
                Candidate("the call alone, sealing", callOfSealing),
                Candidate("the call alone, opening", callOfOpening),
            ])
        Report.title("A file of 1 MiB in chunks of 64 KiB")
        for candidate in timings.names.indices {
            let fastest = timings.fastest(candidate)
            Report.line(
                "\(timings.names[candidate]), fastest round", Double(1 << 20) / fastest * 1e9 / 1_073_741_824, "GiB/s")
        }
        Report.goal(
            "bare, bytes to bytes ÷ sealed, median of rounds", timings.median { $0[0] / $0[1] }, atLeast: 0.95,
            isPeer: true)
        Report.goal(
            "bare, bytes to bytes ÷ opened, median of rounds", timings.median { $0[2] / $0[3] }, atLeast: 0.95,
            isPeer: true)
        Report.line("the call alone ÷ sealed, median of rounds", timings.median { $0[4] / $0[1] }, "")
        Report.line("the call alone ÷ opened, median of rounds", timings.median { $0[5] / $0[3] }, "")
    }

    private func bareBox() throws -> AES.GCM.SealedBox {
        try AES.GCM.seal(chunk, using: key, nonce: nonce, authenticating: associated)
    }

    private func bareSeal() throws { for _ in boxes { keep(Array(try bareBox().combined ?? Data())) } }

    private func bareOpen() throws {
        for _ in boxes {
            keep(
                Array(
                    try AES.GCM.open(AES.GCM.SealedBox(combined: combined), using: key, authenticating: associated)))
        }
    }

    private func callOfSealing() throws { for _ in boxes { keep(try bareBox()) } }

    private func callOfOpening() throws {
        for box in boxes { keep(try AES.GCM.open(box, using: key, authenticating: associated)) }
    }

    private func seal() throws { for index in boxes.indices { keep(try manifest.seal(chunk, chunk: index)) } }

    private func open() throws { for index in boxes.indices { keep(try manifest.open(sealed[index], chunk: index)) } }
}

/// Why there is nothing to measure.
enum BenchFault: Error {
    /// 16 bytes are no note's name.
    case noIdentifier
    /// The person is not in the directory.
    case notRegistered
    /// The peer's library did not do its work.
    case peerFailed(status: Int32)
    /// Signet does not open what the peer sealed.
    case peerDiffers
}
