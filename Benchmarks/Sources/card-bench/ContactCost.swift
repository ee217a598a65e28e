// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ContactMatching
    import Measuring

    /// Two people with a thousand contacts each find out whom both have met.
    enum ContactCost {
        static func measure() throws {
            let count = times(1000)
            let common = (0..<count / 10).map { _ in ContactToken.fresh() }
            let (left, right) = (tokens(count, with: common), tokens(count, with: common))
            var asker: [Double] = [], answerer: [Double] = []
            for _ in 0..<times(10) {
                var generator = SystemRandomNumberGenerator()
                var spent = (asker: 0.0, answerer: 0.0)
                let start = threadTime()
                let first = try MatchingAsker(left, using: &generator)
                spent.asker += threadTime() - start
                let second = threadTime()
                let reply = try MatchingAnswerer(right, to: first.message, using: &generator)
                spent.answerer += threadTime() - second
                let third = threadTime()
                let proof = try first.receive(reply.message, using: &generator)
                spent.asker += threadTime() - third
                let fourth = threadTime()
                let answer = try reply.receive(proof.message, using: &generator)
                spent.answerer += threadTime() - fourth
                let fifth = threadTime()
                let (found, last) = try proof.receive(answer.message)
                spent.asker += threadTime() - fifth
                let sixth = threadTime()
                let other = try answer.receive(last)
                spent.answerer += threadTime() - sixth
                guard found == Set(common), other == found else { throw WrongMatch() }
                asker.append(spent.asker)
                answerer.append(spent.answerer)
            }
            Report.title("Common contacts of two people with \(count) each")
            Report.goal("whoever asks, fastest round, ms", (asker.min() ?? .nan) / 1e6, atMost: 200)
            Report.goal("whoever answers, fastest round, ms", (answerer.min() ?? .nan) / 1e6, atMost: 200)
        }

        private static func tokens(_ count: Int, with common: [ContactToken]) -> [ContactToken] {
            common + (0..<count - common.count).map { _ in ContactToken.fresh() }
        }

        private struct WrongMatch: Error {}
    }
#endif
