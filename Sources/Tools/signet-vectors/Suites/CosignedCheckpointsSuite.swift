// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TransparencyLog

/// Signed checkpoints with cosignatures, each with the keys that must have signed.
struct CosignedCheckpointsSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "cosigned-checkpoints",
        abstract: "Checkpoints that a log signed and every listed witness cosigned at the listed times.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let cases: [Case] = try VectorFile(path).json()
        guard !cases.isEmpty else { throw .noCases(path: path) }
        for test in cases { report.add(test.name, valid: test.valid, refusal: test.refusal, about: test.why) }
    }

    struct Case: Decodable {
        let name: String
        let valid: Bool
        let why: String?
        let note: String
        let logKey: String
        let witnessKeys: [String]
        let timestamps: [UInt64]

        private enum CodingKeys: String, CodingKey {
            case name, valid, why, note, timestamps
            case logKey = "log_vkey"
            case witnessKeys = "witness_vkeys"
        }

        /// Why our code refuses the case; nil when it accepts it.
        var refusal: String? {
            do {
                let verified = try policy().verify(SignedNote(decoding: Array(note.utf8)))
                return verified.cosignatures.map(\.time) == timestamps ? nil : "cosigned at other times"
            } catch { return "\(error)" }
        }

        /// All listed witnesses must have cosigned.
        private func policy() throws -> Policy {
            let witnesses = try witnessKeys.enumerated().map { number, key in
                Policy.Witness(
                    name: try name("w\(number)"), key: try VerifierKey(decoding: Array(key.utf8)))
            }
            let group = Policy.Group(
                name: try name("all"), threshold: witnesses.count, members: witnesses.map(\.name))
            return try Policy(
                logs: [.init(key: VerifierKey(decoding: Array(logKey.utf8)))], witnesses: witnesses,
                groups: witnesses.isEmpty ? [] : [group],
                quorum: witnesses.isEmpty ? .none : .member(group.name))
        }

        private func name(_ text: String) throws(PolicyError) -> Policy.Name {
            guard let name = Policy.Name(Array(text.utf8)) else { throw .quorumMissing }
            return name
        }
    }
}
