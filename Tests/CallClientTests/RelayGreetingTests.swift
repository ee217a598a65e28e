// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CallClient

/// When a device says hello to its relay, at every phase of the five seconds and at every delay of the way.
struct RelayGreetingTests {
    /// A relay that answers after `delay` ticks while it runs. It hands frames on to whom it knows, and knows nobody after a restart.
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
                if step.opensSocket { sockets.append(tick) }
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
        #expect(Array(scene.sockets.prefix(3)) == [asked + 30, asked + 50, asked + 70])
        // Each tick, so that who is back is heard at once.
        #expect(Array(scene.hellos.dropFirst().prefix(20)) == Array(asked + 10..<asked + 30))
    }

    @Test func whoIsNotAdmittedAsksAtEachTick() {
        var greeting = RelayGreeting()
        for _ in 0..<100 { #expect(greeting.tick(.answer, isAdmitted: false) == .init(saysHello: true)) }
        // Nothing of before counts once it is.
        #expect(greeting.tick(.answer, isAdmitted: true) == .init())
    }
}
