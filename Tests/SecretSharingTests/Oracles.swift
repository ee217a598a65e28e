// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SeededRandomness

@testable import SecretSharing

/// Sums through the module's own arithmetic, for tests that compare them with published ones.
enum ScalarSum {
    static func of(_ scalars: [SecretScalar]) throws -> SecretScalar {
        try SecretScalar(scalars.reduce(Residue<GroupOrder>.zero) { $0 + $1.residue })
    }

    static func product(_ a: SecretScalar, _ b: SecretScalar) throws -> SecretScalar {
        try SecretScalar(a.residue * b.residue)
    }
}

enum PointSum {
    struct Identity: Error {}

    static func of(_ a: CurvePoint, _ b: CurvePoint) throws -> CurvePoint {
        guard let sum = CurvePoint(JacobianPoint.identity + a.affine + b.affine) else { throw Identity() }
        return sum
    }

    static func multiple(_ scalar: SecretScalar, _ point: CurvePoint) throws -> CurvePoint {
        let sum = JacobianPoint.variableTimeSum([PublicTerm(scalar.residue, point.affine)])
        guard let multiple = CurvePoint(sum) else { throw Identity() }
        return multiple
    }
}

/// The x coordinate of scalar·point, computed by swift-crypto as a key agreement.
func agreedX(_ scalar: SecretScalar, _ point: CurvePoint) throws -> [UInt8] {
    let key = try P256.KeyAgreement.PublicKey(compressedRepresentation: point.encoded)
    return try scalar.agreementKey().sharedSecretFromKeyAgreement(with: key).withUnsafeBytes { Array($0) }
}

/// Scalars at the edges of words and of the order, and some at random.
func interestingScalars() throws -> [SecretScalar] {
    let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
    var found: [[UInt8]] = [1, 2, 3].map { [UInt8](repeating: 0, count: 31) + [$0] }
    for below in 1...3 { found.append(Array(order.dropLast()) + [0x51 - UInt8(below)]) }
    for word in 0..<4 {
        var bytes = [UInt8](repeating: 0, count: 32)
        for index in (32 - 8 * (word + 1))..<(32 - 8 * word) { bytes[index] = 0xFF }
        if word < 3 { found.append(bytes) }
        bytes[32 - 8 * (word + 1)] = 0x7F
        found.append(bytes)
    }
    var generator = SeededGenerator(seed: 7)
    return try found.map { try SecretScalar($0) } + (0..<20).map { _ in SecretScalar.random(using: &generator) }
}
