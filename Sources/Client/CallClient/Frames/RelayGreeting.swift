// SPDX-License-Identifier: Apache-2.0

/// When a device says hello to its relay, and when it takes its socket for dead. It counts ticks of 100 ms.
///
/// While all is well it says hello every five seconds, for the network devices in between. When frames came and stop, it asks at once
/// whether the relay is still there: that may have started again and know nobody, or this device may have come into another network.
struct RelayGreeting {
    /// What has come from the relay since the last tick: a challenge or a refusal is a word, which anybody on the way could have said; a
    /// welcome is an answer.
    enum Heard: Comparable { case nothing, word, answer, frame }

    /// What to do now.
    struct Step: Equatable {
        var saysHello = false
        var opensSocket = false
    }

    /// Between two hellos while all is well.
    static let calm = 50
    /// After so long without a frame, where frames came before, the relay is asked.
    static let silence = 10
    /// So long the first hello may be without an answer, before others follow at each tick.
    static let firstAnswer = 10
    /// After so long without a word the socket is given up. With 30 % of packets lost each way, the twenty hellos until then stay without an
    /// answer once in a million times, and what is lost then is the way for a moment.
    static let patience = 30

    private var sinceHello = 0
    private var sinceFrame: Int?
    /// Ticks since the first hello that nothing came after; nil if nothing is waited for.
    private var waiting: Int?
    /// How many ticks in a row brought nothing while an answer was waited for.
    private var deafness = 0

    /// Says hello at each tick until there is an answer, as when there is another key.
    mutating func ask() { waiting = Self.firstAnswer }

    /// - Parameter isAdmitted: whether the relay has let this device in, and has not refused it since.
    mutating func tick(_ heard: Heard, isAdmitted: Bool) -> Step {
        sinceHello += 1
        sinceFrame = heard == .frame ? 0 : sinceFrame.map { $0 + 1 }
        waiting = waiting.map { $0 + 1 }
        if !isAdmitted {
            ask()
        } else if heard >= .answer {
            waiting = nil
        }
        guard let waiting else { return saysHelloWhereDue() }
        deafness = heard == .nothing ? deafness + 1 : 0
        guard waiting >= Self.firstAnswer else { return Step() }
        sinceHello = 0
        guard deafness >= Self.patience else { return Step(saysHello: true) }
        deafness = 0
        return Step(saysHello: true, opensSocket: true)
    }

    private mutating func saysHelloWhereDue() -> Step {
        deafness = 0
        let isSilent = sinceFrame.map { $0 >= Self.silence } ?? false
        guard isSilent || sinceHello >= Self.calm else { return Step() }
        // Once: who spoke may have nothing more to say.
        if isSilent { sinceFrame = nil }
        (sinceHello, waiting) = (0, 0)
        return Step(saysHello: true)
    }
}
