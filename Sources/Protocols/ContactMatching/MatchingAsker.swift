// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import OPAQUE

    /// The side that asks "whom do we both know?", and learns it first.
    ///
    /// Five messages, each of lists of points of ristretto255. H is the hash of a token to the group; a and b are the secrets of the two sides, made
    /// for this run alone. Lists of tokens are shuffled, and filled up with random points.
    ///
    /// | | From | Lists |
    /// |---|---|---|
    /// | 1 | asker | a·H(t) |
    /// | 2 | answerer | b of list 1, in its order; b·H(u) |
    /// | 3 | asker | a of that list, in its order; each match under a fresh secret |
    /// | 4 | answerer | b of those; its own matches under fresh secrets |
    /// | 5 | asker | a of those |
    ///
    /// Security: the other side learns how many tokens there are to a multiple of 256, and which of its own tokens match. A side may stop when it has
    /// learned its part, and may put in the token of every contact that it really has; nobody can try tokens that they do not have.
    ///
    /// Spec: Diffie-Hellman private set intersection (Meadows, 1986; Huberman, Franklin and Hogg, 1999); RFC 9496; RFC 9380, appendix B.
    public struct MatchingAsker: ~Copyable, Sendable {
        /// Message 1.
        public let message: [UInt8]
        private let tokens: HiddenTokens
        private let secret: GroupScalar

        /// Begins a run.
        ///
        /// - Throws: ``MatchingError``: `tooManyTokens`, `unavailable`.
        public init(
            _ tokens: some Sequence<ContactToken>, using generator: inout some RandomNumberGenerator
        ) throws(MatchingError) {
            let hidden = try HiddenTokens(tokens, using: &generator)
            let secret = try GroupScalar.random(using: &generator)
            let points = try hidden.times(secret)
            (self.tokens, self.secret, message) = (hidden, secret, points.encoded)
        }

        /// Takes message 2.
        ///
        /// - Throws: ``MatchingError``.
        public consuming func receive(
            _ message: [UInt8], using generator: inout some RandomNumberGenerator
        ) throws(MatchingError) -> MatchingAskerAtProof {
            let lists = try PointList.read(2, from: message)
            try lists[0].checkCount(tokens.count)
            try lists[1].checkFilled()
            let theirs = try lists[1].times(secret)
            let places = tokens.matches(lists[0], among: theirs)
            let check = try MatchCheck(places, of: tokens, using: &generator)
            return MatchingAskerAtProof(
                message: theirs.encoded + check.list.encoded, tokens: tokens, secret: secret, doubled: lists[0],
                check: check)
        }
    }

    /// The asker after it has seen which tokens seem to match, until the other side stands by them.
    public struct MatchingAskerAtProof: ~Copyable, Sendable {
        /// Message 3.
        public let message: [UInt8]
        let tokens: HiddenTokens
        let secret: GroupScalar
        let doubled: PointList
        let check: MatchCheck

        /// Takes message 4.
        ///
        /// - Returns: the tokens that both have, and message 5.
        /// - Throws: ``MatchingError``.
        public consuming func receive(
            _ message: [UInt8]
        ) throws(MatchingError) -> (matches: Set<ContactToken>, message: [UInt8]) {
            let lists = try PointList.read(2, from: message)
            let matches = try check.verify(lists[0], before: doubled, own: secret, tokens)
            // The other side has as many matches; more would be answers about tokens that it did not put in.
            try lists[1].checkCount(matches.count)
            return (matches, try lists[1].times(secret).encoded)
        }
    }
#endif
