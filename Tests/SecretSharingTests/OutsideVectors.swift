// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import SecretMemory
import SecretSharing
import SeededRandomness

/// Files of the vectors shared with other languages, in a folder beside the package; absent in a bare checkout.
enum OutsideVectors {
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors").standardized

    static var arePresent: Bool { FileManager.default.fileExists(atPath: folder.path()) }

    static func json(_ path: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(contentsOf: folder.appending(path: path)))
    }

    static func frost(_ path: String) throws -> [String: Any] {
        try json("frost-p256/" + path) as? [String: Any] ?? [:]
    }
}

func scalar(_ hex: Any?) throws -> SecretScalar { try SecretScalar(Hex.decode(Array((hex as? String ?? "").utf8))) }

func point(_ hex: Any?) throws -> CurvePoint { try CurvePoint(Hex.decode(Array((hex as? String ?? "").utf8))) }

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension SecretScalar {
    var exposed: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}

extension SecretBytes {
    var exposed: [UInt8] { withSpan { bytes in bytes.indices.map { bytes[$0] } } }
}

struct NoPlace: Error {}

func index(_ value: Int) throws -> ShareIndex {
    guard let index = ShareIndex(UInt16(truncatingIfNeeded: value)) else { throw NoPlace() }
    return index
}

/// A secret of 3 of 5 with everything that tests need of it.
struct Deal {
    let secret: SecretScalar
    let indices: [ShareIndex]
    let dealing: Dealing
    var shares: [SecretShare] { dealing.shares }
    var commitments: ShareCommitments { dealing.commitments }

    init(threshold: Int = 3, count: Int = 5, seed: UInt64 = 1) throws {
        var generator = SeededGenerator(seed: seed)
        secret = SecretScalar.random(using: &generator)
        indices = ShareIndex.random(count: count, using: &generator)
        dealing = try Dealing(of: secret, threshold: threshold, at: indices, using: &generator)
    }

    func verified(_ positions: [Int]) throws -> [VerifiedShare] {
        try positions.map { try commitments.verify(shares[$0]) }
    }
}

/// Every choice of `count` of the numbers below `total`.
func choices(of count: Int, below total: Int) -> [[Int]] {
    guard count > 0 else { return [[]] }
    guard total >= count else { return [] }
    return choices(of: count, below: total - 1) + choices(of: count - 1, below: total - 1).map { $0 + [total - 1] }
}
