// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// Every time that a call goes by, in milliseconds.
public struct CallTimes: Hashable, Sendable {
    /// How long after its replacement a key opens audio: at most, and less when all members have moved on.
    public var audioRetention: UInt64 = 30_000
    /// The same for everything else.
    public var sessionRetention: UInt64 = 120_000
    /// How long a key waits to be used.
    public var futureRetention: UInt64 = 60_000
    /// How long an earlier step of a generation opens frames.
    public var stepRetention: UInt64 = 10_000
    /// How long all members must have moved on before an old key is wiped early.
    public var wipeDelay: UInt64 = 2000
    /// How long a frame waits for its key.
    public var holdDuration: UInt64 = 3000
    /// How long a frame waits before its key is asked for.
    public var needDelay: UInt64 = 150
    /// How often the host makes fresh randomness.
    public var freshInterval: UInt64 = 300_000
    /// How often the host turns the key.
    public var stepInterval: UInt64 = 30_000
    /// How long the host collects leaves.
    public var leaveBatch: UInt64 = 200
    /// How long the host waits for the last ack after a leave.
    public var leaveBarrier: UInt64 = 700
    /// How long it waits when a member comes back, which hears nothing until then.
    public var joinBarrier: UInt64 = 2000
    /// How long it waits otherwise: the previous key does no harm.
    public var barrier: UInt64 = 8000
    /// When those without an ack are sent the rotation again.
    public var repairDelays: [UInt64] = [500, 1000, 2000]
    /// How often a sign of life is due.
    public var heartbeat: UInt64 = 2000
    /// How long a silent host is waited for before the first successor takes over.
    public var hostPatience: UInt64 = 5500
    /// How much longer each further successor waits.
    public var successorDelay: UInt64 = 2500
    /// How much longer a successor waits, the first aside, while frames come whose key it lacks.
    public var successionCredit: UInt64 = 4000
    /// How long a silent host is waited for by a member that hears fewer than half of the others, or has no others: it
    /// may be the one that is cut off.
    public var lonelyPatience: UInt64 = 20_000
    /// How recently a member must have been heard to count as in touch. It is shorter than ``hostPatience``: a device that loses its
    /// network must not take a member that it heard a moment after the host for proof that the host alone is gone.
    public var touchPatience: UInt64 = 2500
    /// How long a device that was cut off waits for the host, once it hears others again, before it takes over.
    public var returnPatience: UInt64 = 3000
    /// How long frames of a host stand for the signs of life that it owes.
    public var frameCredit: UInt64 = 15_000
    /// How long a member may be silent before the host removes it.
    public var memberPatience: UInt64 = 20_000
    /// How long the host must be silent before another host is accepted.
    public var hostSilence: UInt64 = 4000
    /// Between two requests: at least, and twice and four times as much when they are fruitless.
    public var requestCooldown: UInt64 = 3000
    /// How long an answer is waited for.
    public var requestTimeout: UInt64 = 10_000
    /// How long an answer is waited for before the next member is asked.
    public var requestRetarget: UInt64 = 1000
    /// Between two packets of a host to a member that lacks an epoch.
    public var packetInterval: UInt64 = 150
    /// How often a host sends them.
    public var packetRounds = 40
    /// Between two packets of a member to one that it has not heard under the new key.
    public var spreadInterval: UInt64 = 200
    /// How often a member sends them.
    public var spreadRounds = 10
    /// Between two copies of a farewell.
    public var farewellInterval: UInt64 = 50
    /// How many copies there are.
    public var farewellRounds = 4
    /// Between two digests of what a device sent; 0: there are none.
    public var digestInterval: UInt64 = 500
    /// How long a frame waits for a digest that speaks of it.
    public var digestPatience: UInt64 = 3000
    /// Between two answers to one member.
    public var replyInterval: UInt64 = 900
    /// How often joining is tried.
    public var joinInterval: UInt64 = 1000
    /// Between two requests for a key frame of one stream.
    public var keyFrameInterval: UInt64 = 500

    /// The times of the design.
    public init() {}

    /// How long a rotation waits for the last ack.
    func barrier(_ reason: RotationReason) -> UInt64 {
        switch reason {
        case .leave, .succession: leaveBarrier
        case .join: joinBarrier
        case .timer, .suspicion: barrier
        }
    }

    /// How long after its replacement a key opens frames of a context.
    public func retention(_ context: MediaContext) -> UInt64 { context == .audio ? audioRetention : sessionRetention }
}

extension RotationReason {
    /// Whether a device has the previous key that must not have it any longer.
    var isHasty: Bool { self == .leave || self == .succession }
}
