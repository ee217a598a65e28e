import Crypto
import KeyTransparency
import Measuring
import TransparencyLog
import VRF

/// A whole native lookup verification beside the bare primitives that it cannot do without.
struct LookupCost {
    private let paper: PaperLookup
    private let verifier: LookupVerifier
    private let logKey: Curve25519.Signing.PublicKey
    private let clockKey: Curve25519.Signing.PublicKey
    private let clockText: [UInt8]

    init() throws {
        paper = try PaperLookup(size: 1 << 16)
        verifier = LookupVerifier(trust: paper.trust)
        logKey = try Curve25519.Signing.PublicKey(rawRepresentation: paper.log.verifierKey.publicKey)
        clockKey = try Curve25519.Signing.PublicKey(rawRepresentation: paper.clock.verifierKey.publicKey)
        clockText = Array("cosignature/v1\ntime \(paper.now)\n".utf8) + paper.note.text
    }

    func report() throws {
        let names = [
            "whole lookup", "VRF proof, log signature and inclusion", "bare VRF verification",
            "bare Ed25519, log", "bare Ed25519, clock cosigner", "bare P-256, identity",
            "bare P-256 point, device",
        ]
        let work: [() throws -> Void] = [
            whole, threeChecks, bareVRF, bareLog, bareClock, bareIdentity, bareDevicePoint,
        ]
        let timings = try interleaved(
            rounds: 100, repetitions: 20, zip(names, work).map { Candidate($0, $1) })
        Report.title("Native lookup, \(paper.answer.count) bytes, one device")
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
        }
        reportRatios(timings)
    }

    private func reportRatios(_ timings: Timings) {
        let bareTwo = { (round: [Double]) in round[2] + round[3] }
        let bareAll = { (round: [Double]) in round[2...].reduce(0, +) }
        let fastest = timings.names.indices.map(timings.fastest)
        Report.goal(
            "VRF, log signature, inclusion ÷ (Ed25519 + VRF), fastest", fastest[1] / bareTwo(fastest),
            atMost: 1.15)
        Report.goal(
            "the same, median of rounds", timings.median { $0[1] / bareTwo($0) }, atMost: 1.15)
        Report.goal(
            "whole lookup ÷ all its bare primitives, fastest", fastest[0] / bareAll(fastest), atMost: 1.15)
        Report.goal("the same, median of rounds", timings.median { $0[0] / bareAll($0) }, atMost: 1.15)
    }

    private func whole() throws {
        keep(try verifier.verify(paper.answer, for: paper.handle, knowing: nil, at: paper.now).age)
    }

    private func threeChecks() throws {
        let hash = try paper.trust.vrfKey.verify(
            VRFProof(paper.vrfProof.bytes), for: paper.handle.vrfInput)
        let signed = try paper.trust.policy.verifyLogSignature(on: SignedNote(decoding: paper.note.encoded))
        try paper.leafInclusion.verify(leaf: .leaf(paper.leaf.entry), in: signed.checkpoint.head)
        keep(hash)
    }

    private func bareVRF() throws {
        keep(try paper.trust.vrfKey.verify(VRFProof(paper.vrfProof.bytes), for: paper.handle.vrfInput))
    }

    private func bareLog() {
        keep(logKey.isValidSignature(paper.note.signatures[0].blob, for: paper.note.text))
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
}
