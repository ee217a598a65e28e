// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import OPAQUE

    /// Asks for each match once more: the point of its token under a secret that was not used before, so that the other side cannot tell
    /// which one it is. Only who answered in order and under one secret can answer again.
    struct MatchCheck: Sendable {
        private let questions: [(place: Int, secret: GroupScalar)]
        /// What is asked.
        let list: PointList

        /// - Parameter places: the places that match.
        init(
            _ places: [Int], of tokens: HiddenTokens, using generator: inout some RandomNumberGenerator
        ) throws(MatchingError) {
            var (questions, points): ([(Int, GroupScalar)], [GroupElement]) = ([], [])
            for place in places.shuffled(using: &generator) {
                let secret = try GroupScalar.random(using: &generator)
                guard let point = tokens.point(at: place).times(secret) else { throw .unavailable }
                questions.append((place, secret))
                points.append(point)
            }
            (self.questions, list) = (questions, PointList(points))
        }

        /// Compares the answers with those that were given before.
        ///
        /// - Parameters:
        ///   - answers: what was asked, under the other side's secret.
        ///   - before: the points of all places under this side's secret and the other's.
        ///   - own: this side's secret.
        /// - Returns: the tokens that match.
        func verify(
            _ answers: PointList, before: PointList, own: GroupScalar, _ tokens: HiddenTokens
        ) throws(MatchingError) -> Set<ContactToken> {
            try answers.checkCount(questions.count)
            var matched: Set<ContactToken> = []
            for (question, answer) in zip(questions, answers.points) {
                guard let inverse = question.secret.inverted, let again = answer.times(inverse)?.times(own),
                    again == before.points[question.place]
                else { throw .unprovedMatch }
                if let token = tokens.tokens[question.place] { matched.insert(token) }
            }
            return matched
        }
    }
#endif
