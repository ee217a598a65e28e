// SPDX-License-Identifier: Apache-2.0

/// What a connection is waiting for and until when: a value, so that tests need no clock.
///
/// Every wait ends at a fixed time after it began. Bytes that drip in do not move it.
package struct ConnectionProgress: Sendable {
    /// What happened on the connection.
    package enum Event: Sendable {
        case handshakeCompleted
        case headRead
        case requestRead
        case answerTaken
    }

    /// How long each wait may be, in nanoseconds.
    package struct Times: Sendable {
        var handshake: UInt64
        var firstHead: UInt64
        var idle: UInt64
        var body: UInt64
        var answer: UInt64

        /// Times of these lengths in nanoseconds.
        package init(handshake: UInt64, firstHead: UInt64, idle: UInt64, body: UInt64, answer: UInt64) {
            self.handshake = handshake
            self.firstHead = firstHead
            self.idle = idle
            self.body = body
            self.answer = answer
        }

        /// Times of these lengths.
        package init(handshake: Duration, firstHead: Duration, idle: Duration, body: Duration, answer: Duration) {
            self.handshake = handshake.wholeNanoseconds
            self.firstHead = firstHead.wholeNanoseconds
            self.idle = idle.wholeNanoseconds
            self.body = body.wholeNanoseconds
            self.answer = answer.wholeNanoseconds
        }
    }

    /// What the first wait is for.
    package enum Start: Sendable {
        /// A connection was accepted: the handshake.
        case accepted
        /// The handshake has ended: the first request.
        case secured
        /// A stream of HTTP/2 was opened: its request, and no other after it.
        case stream
    }

    private enum Wait {
        case handshake, firstHead, idle, body, answer
    }

    private let times: Times
    private var wait: Wait
    private var openAnswers = 0
    private var isReadingBody = false

    /// When the connection is to be closed, in nanoseconds of the clock that the events are timed by.
    package private(set) var deadline: UInt64

    package init(_ times: Times, from start: Start = .accepted, at now: UInt64) {
        self.times = times
        wait = start == .accepted ? .handshake : .firstHead
        deadline = now + (start == .accepted ? times.handshake : times.firstHead)
    }

    /// Takes note of what happened.
    package mutating func note(_ event: Event, at now: UInt64) {
        switch event {
        case .handshakeCompleted:
            begin(.firstHead, times.firstHead, now)
        case .headRead:
            openAnswers += 1
            isReadingBody = true
            begin(.body, times.body, now)
        case .requestRead:
            isReadingBody = false
            if openAnswers > 0 { begin(.answer, times.answer, now) } else { begin(.idle, times.idle, now) }
        case .answerTaken:
            openAnswers = max(0, openAnswers - 1)
            guard !isReadingBody else { return }
            if openAnswers > 0 { begin(.answer, times.answer, now) } else { begin(.idle, times.idle, now) }
        }
    }

    /// The limit that is broken at `now`, or nil.
    package func brokenLimit(at now: UInt64) -> Limit? {
        guard now >= deadline else { return nil }
        return switch wait {
        case .handshake: .handshakeTime
        case .firstHead: .headTime
        case .idle: .idleTime
        case .body: .bodyTime
        case .answer: .answerTime
        }
    }

    private mutating func begin(_ wait: Wait, _ time: UInt64, _ now: UInt64) {
        self.wait = wait
        deadline = now + time
    }
}

extension Duration {
    /// The duration in nanoseconds; 0 if negative, a century if longer.
    package var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0 else { return 0 }
        return UInt64(min(seconds, 3_155_760_000)) * 1_000_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000)
    }
}
