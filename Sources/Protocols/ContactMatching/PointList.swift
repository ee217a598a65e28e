// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

#if os(Linux)
    import OPAQUE

    /// Points of one side in one message: u16 count, and 32 bytes each (RFC 9496).
    struct PointList: Hashable, Sendable {
        /// Lists of tokens are filled up to a multiple of this, so that their length says little.
        static let unit = 256

        let points: [GroupElement]

        init(_ points: [GroupElement]) { self.points = points }

        var encoded: [UInt8] {
            var writer = ByteWriter()
            writer.write(UInt16(truncatingIfNeeded: points.count))
            for point in points { writer.write(point.bytes) }
            return writer.bytes
        }

        /// Reads the lists of a message: that many, and nothing after them.
        ///
        /// - Throws: ``MatchingError``: `malformed`, `notAPoint`, `repeatedPoint`.
        static func read(_ count: Int, from message: [UInt8]) throws(MatchingError) -> [PointList] {
            var reader = ByteReader(message)
            var lists: [PointList] = []
            for _ in 0..<count { lists.append(try PointList(from: &reader)) }
            guard reader.remaining == 0 else { throw .malformed }
            return lists
        }

        private init(from reader: inout ByteReader) throws(MatchingError) {
            let encodings: [[UInt8]]
            do {
                let count = Int(try reader.uint16())
                guard count <= ContactToken.maximumCount else { throw MatchingError.malformed }
                encodings = try (0..<count).map { _ in Array(try reader.bytes(GroupElement.byteCount)) }
            } catch { throw .malformed }
            points = encodings.compactMap { GroupElement($0) }
            guard points.count == encodings.count else { throw .notAPoint }
            guard Set(points).count == points.count else { throw .repeatedPoint }
        }

        /// Refuses a list of tokens of another length than a filled one has.
        func checkFilled() throws(MatchingError) {
            guard !points.isEmpty, points.count.isMultiple(of: Self.unit) else { throw .malformed }
        }

        func checkCount(_ count: Int) throws(MatchingError) {
            guard points.count == count else { throw .malformed }
        }

        /// Every point under a secret, in order.
        func times(_ secret: GroupScalar) throws(MatchingError) -> PointList {
            let products = points.compactMap { $0.times(secret) }
            guard products.count == points.count else { throw .unavailable }
            return PointList(products)
        }
    }

    /// The tokens of one side as points, shuffled, with the places that hold none.
    struct HiddenTokens: Sendable {
        /// The token at each place; nil for a place that was filled up.
        let tokens: [ContactToken?]
        /// The point of each place before any secret.
        private let points: PointList

        init(
            _ tokens: some Sequence<ContactToken>, using generator: inout some RandomNumberGenerator
        ) throws(MatchingError) {
            let own = Set(tokens)
            guard own.count <= ContactToken.maximumCount else { throw .tooManyTokens }
            let filled = max(1, (own.count + PointList.unit - 1) / PointList.unit) * PointList.unit
            var places = own.map { Optional($0) } + [ContactToken?](repeating: nil, count: filled - own.count)
            places.shuffle(using: &generator)
            var points: [GroupElement] = []
            for place in places {
                let bytes = place?.bytes ?? generator.bytes(ContactToken.byteCount)
                guard let point = GroupElement(token: bytes) else { throw .unavailable }
                points.append(point)
            }
            (self.tokens, self.points) = (places, PointList(points))
        }

        func times(_ secret: GroupScalar) throws(MatchingError) -> PointList { try points.times(secret) }
        var count: Int { tokens.count }

        /// The places that hold a token and whose point, under both secrets, the other side has too.
        func matches(_ doubled: PointList, among others: PointList) -> [Int] {
            let known = Set(others.points)
            return tokens.indices.filter { tokens[$0] != nil && known.contains(doubled.points[$0]) }
        }

        func point(at place: Int) -> GroupElement { points.points[place] }
    }

    extension GroupElement {
        /// hash_to_ristretto255 of `signet-contact-token/v1` LF and the token.
        init?(token: [UInt8]) {
            let input = Array("signet-contact-token/v1\n".utf8) + token
            self.init(hashing: input.span)
        }
    }

    extension GroupScalar {
        /// A secret below 2^252, which all but 2^-127 of the group's order are.
        static func random(using generator: inout some RandomNumberGenerator) throws(MatchingError) -> GroupScalar {
            var bytes = generator.bytes(GroupScalar.byteCount)
            bytes[GroupScalar.byteCount - 1] &= 0x0F
            guard let scalar = GroupScalar(bytes.span) else { throw .unavailable }
            return scalar
        }
    }

    extension RandomNumberGenerator {
        mutating func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in .random(in: .min ... .max, using: &self) }
        }
    }
#endif
