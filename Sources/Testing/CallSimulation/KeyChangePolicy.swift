// SPDX-License-Identifier: Apache-2.0

/// How keys change, in one system or another.
public struct KeyChangePolicy: Sendable, Hashable {
    /// When senders begin to use a new key.
    enum Switch: Hashable, Sendable {
        /// As soon as they have it.
        case atOnce
        /// This long after they have it.
        case delay(UInt64)
        /// When the host has the acks of all members, or has waited this long.
        case barrier(UInt64)
    }

    /// Its name in tables.
    public let name: String
    let change: Switch
    /// How long an old key is kept, in milliseconds.
    let retention: UInt64
    /// How many old keys are kept.
    let oldKeys: Int
    /// Whether a member without a key asks for it.
    let asks: Bool
    /// Who plays by it.
    let player: Player

    /// Who plays: code that calls use, or that is for them, or else a model.
    enum Player: Hashable, Sendable {
        /// ``SignetMember``.
        case signet
        /// ``GuideMember``.
        case guide
        /// ``ClassicMember``.
        case model
    }

    private init(
        _ name: String, _ change: Switch, retention: UInt64, oldKeys: Int, asks: Bool, _ player: Player = .model
    ) {
        self.name = name
        self.change = change
        self.retention = retention
        self.oldKeys = oldKeys
        self.asks = asks
        self.player = player
    }

    /// Signet: the state machine itself, with SFrame.
    public static let signet = KeyChangePolicy(
        "Signet", .barrier(2000), retention: 120_000, oldKeys: 15, asks: true, .signet)
    /// The call guide as written: a timestamp one second ahead, one backup, one future, requests.
    public static let seed = KeyChangePolicy(
        "guide as written", .delay(GuideMember.lead), retention: 120_000, oldKeys: 1, asks: true, .guide)
    /// LiveKit's defaults: a ring of 16 keys, in use at once, nothing is asked for.
    public static let liveKit = KeyChangePolicy("LiveKit-like", .atOnce, retention: .max, oldKeys: 15, asks: false)
    /// RingRTC's: in use five seconds later, the last five keys kept.
    public static let ringRTC = KeyChangePolicy("RingRTC-like", .delay(5000), retention: .max, oldKeys: 4, asks: false)
    /// DAVE's: a barrier of two seconds, old keys for ten, a member without a key is taken out and in again.
    public static let dave = KeyChangePolicy("DAVE-like", .barrier(2000), retention: 10_000, oldKeys: 15, asks: true)

    /// All of them.
    public static let all: [KeyChangePolicy] = [seed, liveKit, ringRTC, dave, signet]
}

extension Scenario {
    /// Plays this scenario by a policy.
    public func run(_ policy: KeyChangePolicy = .signet) -> Outcome {
        switch policy.player {
        case .signet: play(SignetMember.self, policy)
        case .guide: play(GuideMember.self, policy)
        case .model: play(ClassicMember.self, policy)
        }
    }

    private func play<Member: SimulatedMember>(_ member: Member.Type, _ policy: KeyChangePolicy) -> Outcome {
        var simulation = Simulation<Member>(self, policy: policy)
        return simulation.run()
    }
}
