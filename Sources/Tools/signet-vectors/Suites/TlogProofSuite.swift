// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TransparencyLog

/// tlog-proofs with entries and policies, listed by an index.json.
struct TlogProofSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "tlog-proof",
        abstract: "tlog-proofs with policies: a folder with index.json, or that file.")

    @Argument(help: "The folder or the index file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let named = VectorFile(path)
        let index = named.isFolder ? named.appending("index.json") : named
        let cases: [TlogProofEntry] = try index.json()
        guard !cases.isEmpty else { throw .noCases(path: path) }
        for test in cases {
            do throws(VectorFileError) {
                let refusal = try test.refusal(in: index.folder)
                report.add(test.name, valid: test.valid, refusal: refusal, about: test.why)
            } catch {
                report.add(test.name, failure: error.message)
            }
        }
    }
}

/// One line of the index.
struct TlogProofEntry: Codable {
    let name: String
    let valid: Bool
    let why: String?
    let proof: String
    let entry: String
    let policy: String
    let size: UInt64?
    let index: UInt64?

    /// Why our code refuses the case; nil when it accepts it.
    func refusal(in folder: VectorFile) throws(VectorFileError) -> String? {
        let text = try folder.appending(proof).bytes()
        let leaf = try folder.appending(entry).bytes()
        let rules = try folder.appending(policy).bytes()
        let read: TlogProof
        let verified: VerifiedCheckpoint
        do {
            read = try TlogProof(decoding: text)
            verified = try read.verify(entry: leaf, policy: Policy(decoding: rules))
        } catch { return "\(error)" }
        guard read.encoded == text else { return "prints back differently" }
        guard index == nil || index == read.inclusion.index else { return "another index than the list says" }
        guard size == nil || size == verified.checkpoint.head.size else {
            return "another size than the list says"
        }
        return nil
    }
}
