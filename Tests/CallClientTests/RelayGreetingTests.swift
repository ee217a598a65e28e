// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CallClient

/// When a device says hello to its relay, at every phase of the five seconds and at every delay of the way.
struct RelayGreetingTests {
    /// A relay that answers after `delay` ticks while it runs. It hands frames on to whom it knows, and knows nobody after a restart. What it
    /// says to a socket that was given up comes nowhere.
    private struct Scene {
        var greeting = RelayGreeting()
        var delay: Int
        var others: ClosedRange<Int>?
        var away: Range<Int> = 0..<0
        var hellos: [Int] = []
        var sockets: [Int] = []
        var frames: [Int] = []
        /// When each arrives, and when its hello was said.
        private var answers: [(tick: Int, hello: Int)] = []
        private var isKnown = true

        init(delay: Int, others: ClosedRange<Int>? = 0...10_000) { (self.delay, self.others) = (delay, others) }

        mutating func run(_ ticks: Range<Int>) {
            for tick in ticks {
                if away.contains(tick) { isKnown = false }
                let isAnswered = answers.first?.tick == tick
                if isAnswered, answers.removeFirst().hello >= away.upperBound { isKnown = true }
                let isFrame = isKnown && !away.contains(tick) && others?.contains(tick) == true
                if isFrame { frames.append(tick) }
                let step = greeting.tick(isFrame ? .frame : isAnswered ? .answer : .nothing, isAdmitted: true)
                if step.opensSocket {
                    sockets.append(tick)
                    answers = []
                }
                if step.saysHello {
                    hellos.append(tick)
                    if !away.contains(tick), !away.contains(tick + delay) { answers.append((tick + delay, tick)) }
                }
            }
        }
    }

    @Test func soundIsBackWithinOneAndAHalfSecondsOfTheRelay() {
        for delay in 1...4 {
            for death in 100..<150 {
                for length in 1...80 {
                    var scene = Scene(delay: delay)
                    scene.away = death..<death + length
                    scene.run(0..<400)
                    let first = scene.frames.first { $0 >= death } ?? .max
                    #expect(first - scene.away.upperBound <= 11 + delay, "\(delay) \(death) \(length)")
                }
            }
        }
    }

    /// With frames all the time, without any, and where others end, each at every moment.
    @Test func onceInFiveSecondsWhileAllIsWell() {
        for delay in 1...4 {
            for others in [0...10_000, nil] {
                var scene = Scene(delay: delay, others: others)
                scene.run(0..<1001)
                #expect(scene.hellos.count == 20)
                #expect(scene.sockets == [])
            }
            for end in 100..<150 {
                var scene = Scene(delay: delay, others: 0...end)
                scene.run(0..<1001)
                #expect(scene.hellos.count <= 21)
                #expect(zip(scene.hellos, scene.hellos.dropFirst()).allSatisfy { $1 - $0 <= 50 })
            }
        }
    }

    @Test func anAnswerWithinThreeSecondsKeepsTheSocket() {
        for delay in 1..<30 {
            for others in [0...150, 0...10_000, nil] {
                var scene = Scene(delay: delay, others: others)
                scene.run(0..<1000)
                #expect(scene.sockets == [], "\(delay)")
            }
        }
    }

    @Test func withoutAnAnswerTheSocketIsGivenUpAgainAndAgain() throws {
        var scene = Scene(delay: 1, others: nil)
        scene.away = 0..<1000
        scene.run(0..<1000)
        let asked = try #require(scene.hellos.first)
        #expect(Array(scene.sockets.prefix(4)) == [asked + 30, asked + 60, asked + 90, asked + 120])
        // Each tick, so that who is back is heard at once.
        #expect(Array(scene.hellos.dropFirst().prefix(100)) == Array(asked + 10..<asked + 110))
    }

    /// The attack: on the way, all is dropped but one refusal, which no key protects. Then the device comes into another network.
    @Test func whoIsNotAdmittedAsksAtEachTick_andOpensASocketWhereNothingComes() {
        var greeting = RelayGreeting()
        for _ in 0..<100 { #expect(greeting.tick(.word, isAdmitted: false) == .init(saysHello: true)) }
        let steps = (1...90).map { _ in greeting.tick(.nothing, isAdmitted: false) }
        #expect(steps.allSatisfy { $0.saysHello })
        #expect(steps.indices.filter { steps[$0].opensSocket } == [29, 59, 89])
        #expect(greeting.tick(.answer, isAdmitted: true) == .init())
    }

    /// A challenge says that there is a relay, and not that this device is let in.
    @Test func aWordKeepsTheSocketAndAnswersNothing() {
        var greeting = RelayGreeting()
        let asks = (1...50).map { _ in greeting.tick(.nothing, isAdmitted: true).saysHello }
        #expect(asks.last == true)
        let steps = (1...100).map { _ in greeting.tick(.word, isAdmitted: true) }
        #expect(steps.map(\.saysHello) == (1...100).map { $0 >= 10 })
        #expect(!steps.contains { $0.opensSocket })
    }

    @Test func withAnotherKeyItAsksUntilThereIsAnAnswer() {
        var greeting = RelayGreeting()
        greeting.ask()
        for _ in 0..<5 { #expect(greeting.tick(.nothing, isAdmitted: true) == .init(saysHello: true)) }
        #expect(greeting.tick(.answer, isAdmitted: true) == .init())
    }
}
