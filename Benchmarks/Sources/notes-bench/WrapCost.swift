// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyTransparency
import Measuring
import NoteLog
import PaperDirectory
import SealedNotes

/// A note's key for one recipient more: what an unsharing costs a thousand times over.
struct WrapCost {
    private let signing = Curve25519.Signing.PrivateKey()
    private let author: Author
    private let state: ControlState
    private let key: NoteKey
    private let recipient: WrapRecipient
    private let kem: XWingMLKEM768X25519.PrivateKey

    init(_ paper: PaperLookup) throws {
        let answer = try LookupVerifier(trust: paper.trust)
            .verify(paper.answerWithKeys, for: paper.handle, knowing: nil, at: paper.now)
        guard case .registered(let lookup) = answer, let recipient = WrapRecipient.devices(of: lookup).first,
            let note = NoteID([UInt8](repeating: 4, count: NoteID.byteCount))
        else { throw BenchFault.notRegistered }
        self.recipient = recipient
        kem = try XWingMLKEM768X25519.PrivateKey.generate()
        author = Author(handle: paper.handle, device: Array(signing.publicKey.rawRepresentation))
        key = NoteKey.generate(note: note, epoch: 1)
        let (signing, commitment) = (signing, key.commitment)
        state = try ControlState(
            first: ControlEntry(
                note: note, number: 1, previous: .none, time: 0, author: author,
                action: .create(keyCommitment: commitment), with: { Array(try signing.signature(for: $0)) }))
    }

    func report() throws {
        let timings = try interleaved(
            rounds: 50, repetitions: 20,
            [
                Candidate("HPKE with X-Wing alone", bare), Candidate("an Ed25519 signature", sign),
                Candidate("a wrap, X-Wing", { try wrap(.xWing) }), Candidate("a wrap, P-256", { try wrap(.p256) }),
            ])
        Report.title("Wrapping a note's key")
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
        }
        Report.line("a wrap ÷ (HPKE + signature), median of rounds", timings.median { $0[2] / ($0[0] + $0[1]) }, "")
        Report.goal("1000 recipients with X-Wing, ms", timings.fastest(2) / 1000, atMost: 150)
        Report.goal("1000 recipients with P-256, ms", timings.fastest(3) / 1000, atMost: 150)
    }

    private func bare() throws {
        var sender = try HPKE.Sender(
            recipientKey: kem.publicKey, ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256, info: Data())
        keep(try sender.seal([UInt8](repeating: 1, count: 32), authenticating: [UInt8](repeating: 2, count: 300)))
    }

    private func sign() throws { keep(try signing.signature(for: [UInt8](repeating: 2, count: 1500))) }

    private func wrap(_ suite: WrapSuite) throws {
        keep(
            try key.wrap(
                to: recipient, state: state, sender: author, suite: suite,
                with: { Array(try signing.signature(for: $0)) }))
    }
}
