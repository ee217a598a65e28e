// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import Measuring
import PaperDirectory
import TransparencyLog
import VRF
import VerifiableMap

#if canImport(CSodium)
    import CSodium
#endif

/// A whole native lookup verification beside the bare primitives that it cannot do without.
struct LookupCost {
    private let paper: PaperLookup
    private let verifier: LookupVerifier
    private let logKey: Curve25519.Signing.PublicKey
    private let clockKey: Curve25519.Signing.PublicKey
    private let clockText: [UInt8]
    private let label: LabelAnswer
    private let nodeInput = [UInt8](repeating: 0x5A, count: 65)

    init(_ paper: PaperLookup) throws {
        self.paper = paper
        verifier = LookupVerifier(trust: paper.trust)
        logKey = try Curve25519.Signing.PublicKey(rawRepresentation: paper.log.verifierKey.publicKey)
        clockKey = try Curve25519.Signing.PublicKey(rawRepresentation: paper.clock.verifierKey.publicKey)
        clockText = Array("cosignature/v1\ntime \(paper.now)\n".utf8) + paper.note.text
        guard case .present(let label) = paper.response.answer else { throw BenchFault.notInTheIndex }
        self.label = label
    }

    func report(labelCount: Int) throws {
        Report.title("Native lookup on a first visit, \(labelCount) labels, one device")
        reportBytes()
        let names = [
            "whole lookup", "VRF proof, log signature and inclusion", "bare VRF verification",
            "bare Ed25519, log", "bare Ed25519, clock cosigner", "bare P-256, identity",
            "bare P-256 point, device", "\(hashCount) bare SHA-256 calls, of the paths",
            "bare Ed25519 of libsodium, log",
        ]
        let work: [() throws -> Void] = [
            whole, threeChecks, bareVRF, bareLog, bareClock, bareIdentity, bareDevicePoint, bareHashes,
            bareLogOfLibsodium,
        ]
        let timings = try interleaved(
            rounds: 100, repetitions: 20, zip(names, work).map { Candidate($0, $1) })
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
        }
        reportRatios(timings)
    }

    private func reportBytes() {
        Report.line("epoch record and its path of \(paper.response.epochPath.count) hashes", epochBytes, "bytes")
        Report.line("index path of \(label.indexPath.steps.count) steps", indexBytes, "bytes")
        Report.line("state record's path of \(label.inclusion.hashes.count) hashes", inclusionBytes, "bytes")
        Report.line("account state, with the hash of the device's keys", Double(paper.state.encoded.count), "bytes")
        Report.line("checkpoint", Double(paper.note.encoded.count), "bytes")
        Report.goal("the whole answer, bytes", Double(paper.answer.count), atMost: 3500)
        Report.line("with the X-Wing key beside the state", Double(paper.answerWithKeys.count), "bytes")
    }

    private var epochBytes: Double { Double(73 + 32 * paper.response.epochPath.count) }
    private var indexBytes: Double { Double(2 + 33 * label.indexPath.steps.count) }
    private var inclusionBytes: Double { Double(9 + 32 * label.inclusion.hashes.count) }

    /// Nodes on all paths, and the leaves below them: epoch record, index entry, its value, state record.
    private var hashCount: Int {
        paper.response.epochPath.count + label.indexPath.steps.count + label.lastPath.count
            + label.inclusion.hashes.count + 4
    }

    private func reportRatios(_ timings: Timings) {
        let bareTwo = { (round: [Double]) in round[2] + round[3] }
        let bareAll = { (round: [Double]) in round[2..<8].reduce(0, +) }
        let bareFastest = { (round: [Double]) in
            bareAll(round) - round[3] - round[4] + 2 * min(round[3], round[8])
        }
        let fastest = timings.names.indices.map(timings.fastest)
        Report.goal(
            "VRF, log signature, inclusion ÷ (Ed25519 + VRF), fastest", fastest[1] / bareTwo(fastest),
            atMost: 1.15)
        Report.goal(
            "the same, median of rounds", timings.median { $0[1] / bareTwo($0) }, atMost: 1.15)
        Report.goal(
            "whole lookup ÷ all its bare primitives, fastest", fastest[0] / bareAll(fastest), atMost: 1.2)
        Report.goal("the same, median of rounds", timings.median { $0[0] / bareAll($0) }, atMost: 1.2)
        Report.goal(
            "whole lookup ÷ the fastest primitives of any library, fastest", fastest[0] / bareFastest(fastest),
            atMost: 1.1)
    }

    private func whole() throws {
        keep(try verifier.verify(paper.answer, for: paper.handle, knowing: nil, at: paper.now).epoch.age)
    }

    private func threeChecks() throws {
        let hash = try paper.trust.vrfKey.verify(
            VRFProof(paper.vrfProof.bytes), for: paper.handle.vrfInput)
        let signed = try paper.trust.policy.verifyLogSignature(on: SignedNote(decoding: paper.note.encoded))
        try label.inclusion.verify(leaf: .leaf(paper.record.entry), in: signed.checkpoint.head)
        keep(hash)
    }

    private func bareVRF() throws {
        keep(try paper.trust.vrfKey.verify(VRFProof(paper.vrfProof.bytes), for: paper.handle.vrfInput))
    }

    private func bareLog() {
        keep(logKey.isValidSignature(paper.note.signatures[0].blob, for: paper.note.text))
    }

    /// Beside which ours has no other rules only where none is tried: `Ed25519KeyTests` has signatures that the two judge differently.
    private func bareLogOfLibsodium() {
        #if canImport(CSodium)
            let (key, text) = (paper.log.verifierKey.publicKey, paper.note.text)
            keep(crypto_sign_verify_detached(paper.note.signatures[0].blob, text, UInt64(text.count), key))
        #else
            bareLog()
        #endif
    }

    private func bareClock() {
        keep(clockKey.isValidSignature(paper.note.signatures[1].blob[8...], for: clockText))
    }

    /// With the reading of the key, which a compressed point makes part of the work.
    private func bareIdentity() throws {
        let key = try P256.Signing.PublicKey(compressedRepresentation: paper.state.identityKey)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: paper.state.signature)
        keep(key.isValidSignature(signature, for: paper.state.encoded.dropLast(64)))
    }

    private func bareDevicePoint() throws {
        keep(
            try P256.KeyAgreement.PublicKey(compressedRepresentation: paper.state.devices[0].keys.agreement))
    }

    private func bareHashes() {
        var sum: UInt8 = 0
        for _ in 0..<hashCount { sum &+= bareHash(nodeInput) }
        keep(sum)
    }
}

/// The first byte of a SHA-256.
@inline(__always)
func bareHash(_ input: [UInt8]) -> UInt8 {
    var hasher = SHA256()
    input.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return hasher.finalize().withUnsafeBytes { $0[0] }
}
