// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import VRF

/// VRF proofs in the schema of the project's vrf-r255 set.
struct VRFSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "vrf",
        abstract: "vrf-r255: valid entries prove exactly pi and verify to beta, invalid ones are refused.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let file: File = try VectorFile(path).json()
        guard !file.valid.isEmpty || !file.invalid.isEmpty else { throw .noCases(path: path) }
        #if !canImport(CSodium)
            report.remark("this build cannot prove; valid entries were only verified")
        #endif
        for (number, entry) in file.valid.enumerated() {
            report.add(entry.name ?? "valid/\(number)", failure: entry.failure)
        }
        for (number, entry) in file.invalid.enumerated() {
            let refusal = entry.beta == nil ? "refused" : nil
            report.add(entry.name ?? "invalid/\(number)", valid: false, refusal: refusal, about: entry.why)
        }
    }

    struct File: Decodable {
        let valid: [Valid]
        let invalid: [Invalid]
    }

    struct Valid: Decodable {
        let name: String?
        let sk: HexField
        let pk: HexField
        let alpha: HexField
        let pi: HexField
        let beta: HexField

        /// What is wrong with our answers; nil when they are the expected ones.
        var failure: String? {
            guard let output = output(pk: pk.bytes, alpha: alpha.bytes, pi: pi.bytes) else {
                return "refused, must be accepted"
            }
            guard output == beta.bytes else { return "verifies to another beta" }
            return provingFailure
        }

        private var provingFailure: String? {
            #if canImport(CSodium)
                guard let key = try? VRFPrivateKey(sk.bytes) else { return "the private key is refused" }
                guard key.publicKey.bytes == pk.bytes else { return "the private key has another public key" }
                guard let made = try? key.prove(alpha.bytes) else { return "proving failed" }
                guard made.proof.bytes == pi.bytes else { return "proves another pi" }
                return made.hash.bytes == beta.bytes ? nil : "proves another beta"
            #else
                return nil
            #endif
        }
    }

    struct Invalid: Decodable {
        let name: String?
        let why: String?
        let pk: HexField
        let alpha: HexField
        let pi: HexField

        /// What our code verifies the entry to; nil when it refuses it.
        var beta: [UInt8]? { output(pk: pk.bytes, alpha: alpha.bytes, pi: pi.bytes) }
    }
}

/// The output that the proof verifies to; nil when key or proof is refused.
private func output(pk: [UInt8], alpha: [UInt8], pi: [UInt8]) -> [UInt8]? {
    guard let key = try? VRFPublicKey(pk), let proof = try? VRFProof(pi) else { return nil }
    return try? key.verify(proof, for: alpha).bytes
}
