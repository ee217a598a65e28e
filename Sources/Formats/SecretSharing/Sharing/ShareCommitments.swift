// SPDX-License-Identifier: Apache-2.0

/// The public part of a dealing: each coefficient of its polynomial, times the generator.
///
/// The first is the secret's public key, and their number is the number of shares that recover the secret. A recipient
/// that got them over a trusted channel can check each share on its own.
///
/// Spec: P. Feldman, "A practical scheme for non-interactive verifiable secret sharing" (1987); RFC 9591, appendix C.2.
public struct ShareCommitments: Hashable, Sendable {
    /// The fewest and the most shares that a secret may need.
    public static let thresholds = 2...16

    /// From coefficient 0 upwards.
    public let points: [CurvePoint]

    /// The secret's public key.
    public var publicKey: CurvePoint { points[0] }
    /// How many shares recover the secret.
    public var threshold: Int { points.count }
    /// The points one after the other, 33 bytes each.
    public var encoded: [UInt8] { points.flatMap(\.encoded) }

    /// Reads ``encoded``.
    ///
    /// - Throws: ``ShareCommitmentsError``: not 2 to 16 points of the curve.
    public init(decoding bytes: [UInt8]) throws(ShareCommitmentsError) {
        guard bytes.count.isMultiple(of: CurvePoint.byteCount) else { throw .invalidLength(bytes.count) }
        var points: [CurvePoint] = []
        for start in stride(from: 0, to: bytes.count, by: CurvePoint.byteCount) {
            guard points.count < Self.thresholds.upperBound else { throw .invalidLength(bytes.count) }
            do { points.append(try CurvePoint(Array(bytes[start..<start + CurvePoint.byteCount]))) } catch {
                throw .notAPoint(position: points.count)
            }
        }
        try self.init(points)
    }

    /// Commitments of points that were checked one by one.
    ///
    /// - Throws: ``ShareCommitmentsError/invalidLength(_:)``: not 2 to 16 points.
    public init(_ points: [CurvePoint]) throws(ShareCommitmentsError) {
        guard Self.thresholds.contains(points.count) else {
            throw .invalidLength(points.count * CurvePoint.byteCount)
        }
        self.points = points
    }

    /// The public half of the share at a place; nil where the polynomial is zero, at a place that no dealing uses.
    public func publicPoint(at index: ShareIndex) -> CurvePoint? { CurvePoint(sum(at: index)) }

    /// Demands that a share is the one of this dealing at its place.
    ///
    /// - Throws: ``ShareError/wrongValue(_:)``: damaged, false, or of another dealing. Its holder has to look for the
    ///   right one.
    public func verify(_ share: SecretShare) throws(ShareError) -> VerifiedShare {
        guard let point = try? share.scalar.publicPoint(), isPublicPoint(point, at: share.index) else {
            throw .wrongValue(share.index)
        }
        return VerifiedShare(share: share, commitments: self)
    }

    /// Whether `point` is the public half of the share at a place.
    public func isPublicPoint(_ point: CurvePoint, at index: ShareIndex) -> Bool {
        sum(at: index).equals(point.affine)
    }

    /// Σ place^j · point(j).
    private func sum(at index: ShareIndex) -> JacobianPoint {
        var power = Residue<GroupOrder>.one
        var terms: [PublicTerm] = []
        for point in points {
            terms.append(PublicTerm(power, point.affine))
            power = power * index.residue
        }
        return .variableTimeSum(terms)
    }
}

/// Why bytes are not commitments. A retry cannot help.
public enum ShareCommitmentsError: Error, Hashable, Sendable {
    /// This many bytes are not 2 to 16 points of 33.
    case invalidLength(Int)
    /// The point at this position, from 0, is none.
    case notAPoint(position: Int)
}

/// Why a share is refused.
public enum ShareError: Error, Hashable, Sendable {
    /// The share at this place is not the dealing's.
    case wrongValue(ShareIndex)
}
