// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import OPAQUE

    /// The side that is asked "whom do we both know?". ``MatchingAsker`` has the messages.
    public struct MatchingAnswerer: ~Copyable, Sendable {
        /// Message 2.
        public let message: [UInt8]
        private let tokens: HiddenTokens
        private let secret: GroupScalar
        private let doubled: PointList

        /// Answers message 1.
        ///
        /// - Throws: ``MatchingError``.
        public init(
            _ tokens: some Sequence<ContactToken>, to message: [UInt8],
            using generator: inout some RandomNumberGenerator
        ) throws(MatchingError) {
            let asked = try PointList.read(1, from: message)[0]
            try asked.checkFilled()
            let hidden = try HiddenTokens(tokens, using: &generator)
            let secret = try GroupScalar.random(using: &generator)
            let (doubled, own) = (try asked.times(secret), try hidden.times(secret))
            (self.tokens, self.secret, self.doubled) = (hidden, secret, doubled)
            self.message = doubled.encoded + own.encoded
        }

        /// Takes message 3.
        ///
        /// - Throws: ``MatchingError``.
        public consuming func receive(
            _ message: [UInt8], using generator: inout some RandomNumberGenerator
        ) throws(MatchingError) -> MatchingAnswererAtProof {
            let lists = try PointList.read(2, from: message)
            try lists[0].checkCount(tokens.count)
            let places = tokens.matches(lists[0], among: doubled)
            // More questions than matches would be answers about tokens that the asker did not put in.
            try lists[1].checkCount(places.count)
            let check = try MatchCheck(places, of: tokens, using: &generator)
            return MatchingAnswererAtProof(
                message: try lists[1].times(secret).encoded + check.list.encoded, tokens: tokens, secret: secret,
                doubled: lists[0], check: check)
        }
    }

    /// The answerer after it has seen which tokens seem to match, until the asker stands by them.
    public struct MatchingAnswererAtProof: ~Copyable, Sendable {
        /// Message 4.
        public let message: [UInt8]
        let tokens: HiddenTokens
        let secret: GroupScalar
        let doubled: PointList
        let check: MatchCheck

        /// Takes message 5.
        ///
        /// - Returns: the tokens that both have.
        /// - Throws: ``MatchingError``.
        public consuming func receive(_ message: [UInt8]) throws(MatchingError) -> Set<ContactToken> {
            let answers = try PointList.read(1, from: message)[0]
            return try check.verify(answers, before: doubled, own: secret, tokens)
        }
    }
#endif
