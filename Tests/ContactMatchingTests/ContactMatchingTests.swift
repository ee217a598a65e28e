// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import OPAQUE
    import SeededRandomness
    import Testing

    @testable import ContactMatching

    /// Two people who ask whom they both know, and what each may try with the other.
    @Suite struct ContactMatchingTests {
        struct Missing: Error {}

        static func tokens(_ numbers: some Sequence<Int>) throws -> [ContactToken] {
            try numbers.map { number in
                var generator = SeededGenerator(seed: UInt64(number))
                guard let token = ContactToken(generator.bytes(32)) else { throw Missing() }
                return token
            }
        }

        /// A run up to any message, with every message in the hands of a test.
        struct Run {
            var asker: [ContactToken]
            var answerer: [ContactToken]
            var seed: UInt64 = 1
            var change: @Sendable (Int, [UInt8]) -> [UInt8] = { _, message in message }

            /// What the two learn.
            func play() throws -> (asker: Set<ContactToken>, answerer: Set<ContactToken>) {
                var (left, right) = (SeededGenerator(seed: seed << 8), SeededGenerator(seed: seed << 8 | 1))
                let asking = try MatchingAsker(asker, using: &left)
                let answering = try MatchingAnswerer(answerer, to: change(1, asking.message), using: &right)
                let asked = try asking.receive(change(2, answering.message), using: &left)
                let answered = try answering.receive(change(3, asked.message), using: &right)
                let (matches, message) = try asked.receive(change(4, answered.message))
                return (matches, try answered.receive(change(5, message)))
            }

            func messages() throws -> [[UInt8]] {
                let found = Found()
                var run = self
                run.change = { _, message in
                    found.messages.append(message)
                    return message
                }
                _ = try run.play()
                return found.messages
            }
        }

        final class Found: @unchecked Sendable { var messages: [[UInt8]] = [] }

        static func refusal(_ run: Run) -> MatchingError? {
            do {
                _ = try run.play()
                return nil
            } catch { return error as? MatchingError }
        }

        /// Changes the points of one list of one message.
        static func changing(
            _ number: Int, _ list: Int, of count: Int, _ change: @escaping @Sendable ([[UInt8]]) -> [[UInt8]]
        ) -> @Sendable (Int, [UInt8]) -> [UInt8] {
            { found, message in
                guard found == number else { return message }
                var (lists, rest): ([[[UInt8]]], [UInt8]) = ([], message)
                for _ in 0..<count {
                    let length = Int(rest[0]) << 8 | Int(rest[1])
                    lists.append((0..<length).map { Array(rest[2 + 32 * $0..<34 + 32 * $0]) })
                    rest.removeFirst(2 + 32 * length)
                }
                lists[list] = change(lists[list])
                return lists.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255)] + $0.flatMap(\.self) }
            }
        }

        private static func run(_ change: @escaping @Sendable (Int, [UInt8]) -> [UInt8] = { $1 }) throws -> Run {
            Run(asker: try tokens(0..<8), answerer: try tokens(4..<14), change: change)
        }

        @Test func bothLearnWhomBothKnow_andNobodyElse() throws {
            for (left, right) in [
                (0..<8, 4..<14), (0..<0, 0..<3), (0..<3, 3..<6), (0..<3, 0..<3), (0..<300, 299..<301),
            ] {
                let run = Run(asker: try Self.tokens(left), answerer: try Self.tokens(right))
                let expected = Set(try Self.tokens(left)).intersection(try Self.tokens(right))
                let found = try run.play()
                #expect(found.asker == expected && found.answerer == expected)
            }
        }

        @Test func aTokenThatIsGivenTwiceCountsOnce() throws {
            let run = Run(asker: try Self.tokens([1, 1, 2]), answerer: try Self.tokens([1, 2, 2]))
            #expect(try run.play().asker.count == 2)
        }

        @Test func listsAreFilledUp() throws {
            for (count, length) in [(0, 256), (1, 256), (256, 256), (257, 512)] {
                let run = Run(asker: try Self.tokens(0..<count), answerer: [])
                #expect(try run.messages()[0].count == 2 + 32 * length)
            }
        }

        @Test func moreThanTheMostIsRefused() throws {
            var generator = SeededGenerator(seed: 1)
            let many = try Self.tokens(0..<2049)
            #expect(throws: MatchingError.tooManyTokens) { _ = try MatchingAsker(many, using: &generator) }
            #expect(ContactToken([1]) == nil)
            let change = Self.changing(1, 0, of: 1) { points in (0..<2049).map { points[$0 % 256] } }
            #expect(try Self.refusal(Self.run(change)) == .malformed)
        }

        @Test func theIdentityAndWhatIsNoPointAreRefused() throws {
            for wrong in [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32)] {
                for (number, list, count) in [
                    (1, 0, 1), (2, 0, 2), (2, 1, 2), (3, 0, 2), (3, 1, 2), (4, 0, 2), (4, 1, 2), (5, 0, 1),
                ] {
                    let change = Self.changing(number, list, of: count) { points in [wrong] + points.dropFirst() }
                    #expect(try Self.refusal(Self.run(change)) == .notAPoint, "message \(number)")
                }
            }
        }

        @Test func aPointThatComesTwiceIsRefused() throws {
            for (number, list, count) in [
                (1, 0, 1), (2, 0, 2), (2, 1, 2), (3, 0, 2), (3, 1, 2), (4, 0, 2), (4, 1, 2), (5, 0, 1),
            ] {
                let change = Self.changing(number, list, of: count) { points in [points[1]] + points.dropFirst() }
                #expect(try Self.refusal(Self.run(change)) == .repeatedPoint, "message \(number)")
            }
        }

        @Test func aListOfAnotherLengthIsRefused() throws {
            for (number, list, count) in [
                (1, 0, 1), (2, 0, 2), (2, 1, 2), (3, 0, 2), (3, 1, 2), (4, 0, 2), (4, 1, 2), (5, 0, 1),
            ] {
                let change = Self.changing(number, list, of: count) { points in Array(points.dropLast()) }
                #expect(try Self.refusal(Self.run(change)) == .malformed, "message \(number)")
            }
            var generator = SeededGenerator(seed: 3)
            for length in [0, 255] {
                let change = Self.changing(1, 0, of: 1) { points in Array(points.prefix(length)) }
                let asked = change(1, try Self.run().messages()[0])
                #expect(throws: MatchingError.malformed, "\(length) points are no filled list") {
                    _ = try MatchingAnswerer(try Self.tokens(0..<1), to: asked, using: &generator)
                }
            }
            for number in 1...5 {
                let longer = try Self.run { found, message in found == number ? message + [0] : message }
                #expect(Self.refusal(longer) == .malformed, "message \(number)")
            }
        }

        /// The answerer returns the answers in another order, so that the asker would take one contact for another.
        @Test func answersInAnotherOrderAreRefused() throws {
            // Every place holds a token that both have.
            let all = try Self.tokens(0..<256)
            for number in [2, 3] {
                let change = Self.changing(number, 0, of: 2) { points in Array(points.dropFirst()) + [points[0]] }
                let refusal = Self.refusal(Run(asker: all, answerer: all, change: change))
                #expect(refusal == .unprovedMatch, "message \(number)")
            }
        }

        @Test func anAnswerThatDoesNotBearASecondQuestionIsRefused() throws {
            for (number, count) in [(4, 2), (5, 1)] {
                let change = Self.changing(number, 0, of: count) { points in Array(points.dropFirst()) + [points[0]] }
                #expect(try Self.refusal(Self.run(change)) == .unprovedMatch, "message \(number)")
            }
        }

        /// Questions about tokens that were not put in would go round the limit and the filling.
        @Test func moreQuestionsThanMatchesAreNotAnswered() throws {
            var generator = SeededGenerator(seed: 99)
            let extra = try (0..<2).map { _ in
                guard let point = GroupElement(token: generator.bytes(32)) else { throw Missing() }
                return point.bytes
            }
            for number in [3, 4] {
                let (found, change) = (Found(), Self.changing(number, 1, of: 2) { $0 + extra })
                let run = try Self.run { seen, message in
                    found.messages.append(message)
                    return change(seen, message)
                }
                #expect(Self.refusal(run) == .malformed, "message \(number)")
                #expect(found.messages.count == number, "there is no answer to message \(number)")
            }
        }

        @Test func twoRunsOfTheSamePeopleHaveNothingInCommon() throws {
            var run = try Self.run()
            let first = try run.messages()
            run.seed = 2
            let second = try run.messages()
            let runs = Set(first.flatMap { message in message.indices.dropLast(7).map { Array(message[$0..<$0 + 8]) } })
            #expect(
                second.allSatisfy { message in
                    message.indices.dropLast(7).allSatisfy { !runs.contains(Array(message[$0..<$0 + 8])) }
                })
        }

        @Test func mutatedMessagesAreRefusedOrHarmless() throws {
            var generator = SeededGenerator(seed: 5)
            let good = try Self.run().messages()
            for number in 1...5 {
                for _ in 0..<12 {
                    let mutant = generator.mutant(of: good[number - 1])
                    let run = try Self.run { found, message in found == number ? mutant : message }
                    if let found = try? run.play() {
                        let both = Set(try Self.tokens(4..<8))
                        #expect(found.asker.isSubset(of: both) && found.answerer.isSubset(of: both))
                    }
                }
            }
        }
    }
#endif
