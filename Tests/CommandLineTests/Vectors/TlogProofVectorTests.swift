// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TransparencyLog

@testable import signet_vectors

/// The project's own tlog-proof set: generated again, and run against the verifier.
struct TlogProofVectorTests {
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors/tlog-proof")

    /// Only where Ed25519 is deterministic can the signatures come out the same: CryptoKit adds randomness.
    #if !canImport(Darwin)
        @Test func theStoredSetIsTheGenerators() throws {
            let files = try TlogProofSet.files()
            let present = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path())
                .filter { $0 != "parts" }
            #expect(Set(present) == Set(files.keys))
            for (name, bytes) in files {
                let stored = FileManager.default.contents(atPath: Self.folder.appending(path: name).path())
                #expect(stored.map(Array.init) == bytes, "\(name)")
            }
        }
    #endif

    @Test func theVerifierRefusesEachFaultAtItsStep_andAcceptsTheOthers() throws {
        let cases = try TlogProofSet.cases()
        #expect(Set(cases.map(\.name)).count == cases.count)
        for test in cases {
            #expect(
                Self.refusal(of: test.draft) == test.fault?.step,
                "\(test.name): \(test.fault?.reason ?? test.covers)")
        }
        #expect(Set(cases.compactMap(\.fault?.step)) == Set(TlogProofCase.Step.allCases))
    }

    @Test func theProofWithoutAFaultIsAccepted() throws {
        let bench = try VectorBench()
        #expect(Self.refusal(of: try bench.draft()) == nil)
    }

    /// The step at which our verifier refuses; nil when it accepts.
    static func refusal(of draft: ProofDraft) -> TlogProofCase.Step? {
        guard let policy = try? Policy(decoding: draft.policy) else { return .policy }
        let proof: TlogProof
        do throws(TlogProofError) {
            proof = try TlogProof(decoding: draft.proof)
        } catch {
            if case .note = error { return .note }
            return .format
        }
        do throws(TlogProofVerificationError) {
            _ = try proof.verify(entry: draft.entry, policy: policy)
            return nil
        } catch {
            switch error {
            case .inclusion: return .inclusion
            case .checkpoint(.checkpoint): return .checkpoint
            case .checkpoint(.originNotListed): return .origin
            case .checkpoint(.logSignatureMissing), .checkpoint(.logSignatureInvalid): return .logSignature
            case .checkpoint(.cosignatureInvalid): return .cosignature
            case .checkpoint(.quorumNotMet): return .quorum
            }
        }
    }
}
