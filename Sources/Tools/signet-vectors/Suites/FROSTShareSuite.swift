// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SecretSharing

/// The share parts of FROST(P-256, SHA-256) vectors: dealt shares, a distributed generation, an invalid point.
struct FROSTShareSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "frost-p256",
        abstract: "FROST on P-256: every share is dealt, verified and combined; invalid points are refused.",
        discussion: "The signing parts of the vectors are not used: Signet shares keys and does not sign with FROST.")

    @Argument(help: "The JSON file, or the folder of them.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let file = VectorFile(path)
        let files = file.isFolder ? file.contents.filter { $0.hasSuffix(".json") }.map(file.appending) : [file]
        for file in files {
            let content: File = try file.json()
            content.inputs?.judge(&report)
            content.elements?.judge(&report)
        }
        guard report.passed + report.failed > 0 else { throw .noCases(path: path) }
    }

    struct File: Decodable {
        let inputs: Inputs?
        let elements: Elements?
    }

    struct Elements: Decodable {
        let invalid: HexField

        enum CodingKeys: String, CodingKey { case invalid = "invalid_element" }

        func judge(_ report: inout VectorReport) {
            let isAccepted = (try? CurvePoint(invalid.bytes)) != nil
            report.add("invalid element", valid: false, refusal: isAccepted ? nil : "refused")
        }
    }

    enum Inputs: Decodable {
        case dealt(DealtVector)
        case generated([String: GenerationVector])

        init(from decoder: any Decoder) throws {
            if let dealt = try? DealtVector(from: decoder) {
                self = .dealt(dealt)
            } else {
                let fields = try decoder.container(keyedBy: Party.self)
                var parties: [String: GenerationVector] = [:]
                for key in fields.allKeys where key.stringValue != "verifying_key" {
                    parties[key.stringValue] = try fields.decode(GenerationVector.self, forKey: key)
                }
                self = .generated(parties)
            }
        }

        func judge(_ report: inout VectorReport) {
            switch self {
            case .dealt(let vector): vector.judge(&report)
            case .generated(let parties):
                for (number, party) in parties.sorted(by: { $0.key < $1.key }) {
                    party.judge(number, parties, &report)
                }
            }
        }
    }

    struct Party: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// A polynomial and the shares that a dealer makes of it.
struct DealtVector: Decodable {
    struct Share: Decodable {
        let identifier: UInt16
        let participant_share: HexField
    }

    let group_secret_key: HexField
    let verifying_key_key: HexField
    let share_polynomial_coefficients: [HexField]
    let participant_shares: [Share]

    func judge(_ report: inout VectorReport) {
        do {
            let coefficients = try ([group_secret_key] + share_polynomial_coefficients).map { field throws in
                try SecretScalar(field.bytes)
            }
            let polynomial = SharePolynomial(coefficients)
            let commitments = try ShareCommitments(polynomial.points())
            report.add(
                "group key",
                failure: commitments.publicKey.encoded == verifying_key_key.bytes ? nil : "another public key")
            var before: VerifiedShare?
            for share in participant_shares { judge(share, polynomial, commitments, &before, &report) }
        } catch { report.add("group key", failure: "refused: \(error)") }
    }

    /// Deals the share, verifies the published one, and combines it with the one before.
    private func judge(
        _ vector: Share, _ polynomial: SharePolynomial, _ commitments: ShareCommitments,
        _ before: inout VerifiedShare?, _ report: inout VectorReport
    ) {
        let name = "share \(vector.identifier) of \(participant_shares.count)"
        do {
            guard let index = ShareIndex(vector.identifier) else { return report.add(name, failure: "no place") }
            let published = SecretShare(index: index, scalar: try SecretScalar(vector.participant_share.bytes))
            let verified = try commitments.verify(published)
            guard try polynomial.share(at: index).scalar.bytes == vector.participant_share.bytes else {
                return report.add(name, failure: "another share is dealt")
            }
            if let before, commitments.threshold == 2,
                try SecretScalar(combining: [before, verified]).bytes != group_secret_key.bytes
            {
                return report.add(name, failure: "another secret is recovered")
            }
            before = verified
            report.add(name, failure: nil)
        } catch { report.add(name, failure: "refused: \(error)") }
    }
}

/// One party of a distributed generation: what it committed to, and what it received from the others.
struct GenerationVector: Decodable {
    let vss_commitments: [HexField]
    let signing_shares: [String: HexField]

    func judge(_ number: String, _ parties: [String: GenerationVector], _ report: inout VectorReport) {
        for (dealer, share) in signing_shares.sorted(by: { $0.key < $1.key }) {
            let name = "share of dealer \(dealer) for \(number)"
            do {
                let points = try (parties[dealer]?.vss_commitments ?? []).map { field throws in
                    try CurvePoint(field.bytes)
                }
                guard let place = UInt16(number), let index = ShareIndex(place) else {
                    report.add(name, failure: "no place")
                    continue
                }
                let received = SecretShare(index: index, scalar: try SecretScalar(share.bytes))
                _ = try ShareCommitments(points).verify(received)
                report.add(name, failure: nil)
            } catch { report.add(name, failure: "refused: \(error)") }
        }
    }
}

extension SecretScalar {
    /// The bytes; what vectors publish is not secret.
    fileprivate var bytes: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}
