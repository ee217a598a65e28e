// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import SFrame

/// One device in a group call: takes what happens, with the time, and says what to do.
///
/// It has no clock, socket or thread: its owner hands in every signal, frame and tick. The rules are in the
/// extensions: `+Membership` joins and leaves, `+Signals` what a member does with what the host says, `+Hosting` what the
/// host does, `+Succession` who is host, `+Recovery` missing secrets, `+Packets` what is repeated beside the
/// signals, `+Media` frames, `+Digests` what each signs of them.
///
/// Security: copies share every sealer that any of them makes, so that no copy can use a nonce twice.
public struct CallParticipant {
    /// Which call.
    public let callID: CallID
    /// This device.
    public let device: CallDevice
    let times: CallTimes
    var generator: any RandomNumberGenerator

    var phase = CallPhase.outside
    /// Who is in the call, as far as this device knows.
    public internal(set) var roster: Roster?
    /// Under which epoch this device sends; nil while it cannot send.
    public var sending: Epoch? { departure?.isOver == true ? nil : reached }
    /// The newest epoch that this device came to send under: never goes back while it is a member.
    var reached: Epoch?
    var steppedAt: UInt64 = 0
    var ring: KeyRing
    var hold = HoldBuffer()
    var pending: PendingSwitch?
    var departure: Departure?
    /// The first generation that this device was given since it is a member.
    var firstGeneration: UInt32 = 0
    var duty: HostDuty?
    var recovery = Recovery()
    var streams = StreamWatch()
    var beside = PacketState()
    var digests = DigestState()

    var lastHeartbeat: UInt64 = 0
    var hostHeardAt: UInt64 = 0
    var heardAt: [CallDevice: UInt64] = [:]
    var windows: [CallDevice: ReplayWindow] = [:]
    /// The number of the last signal with which each device asked to come in.
    var joinedWith: [CallDevice: UInt64] = [:]
    var everMembers: Set<CallDevice> = []
    /// Members that said farewell: not waited for, and not believed as hosts.
    var leavers: Set<CallDevice> = []
    var reunion: Reunion?
    var formerHost: CallDevice?
    /// The last rotation of another who would host, refused because the host seemed alive.
    var waitingSuccession: OpenedSignal?
    /// When the host last sent a signal; ``hostHeardAt`` counts its frames too.
    var hostSignalAt: UInt64 = 0
    /// When this device last heard neither the host nor half of the others.
    var lonelyAt: UInt64 = 0
    private var sequence: UInt64 = 0
    var output: [CallAction] = []

    /// A device that is in no call yet.
    ///
    /// - Parameters:
    ///   - generator: makes the secrets; a cryptographic one, and only tests pass another.
    ///   - times: the design's unless a test says otherwise.
    public init(
        callID: CallID, device: CallDevice, generator: any RandomNumberGenerator, suites: CallSuites = CallSuites(),
        times: CallTimes = CallTimes()
    ) {
        self.callID = callID
        self.device = device
        self.generator = generator
        self.times = times
        ring = KeyRing(suites: suites, times: times)
    }

    /// Whether this device makes the keys.
    public var isHost: Bool { duty != nil }

    /// Whether this device is a member.
    public var isMember: Bool { phase == .member }

    /// Processes an event.
    ///
    /// - Parameter now: this device's clock, in milliseconds since 1970; must not go back.
    public mutating func handle(_ event: CallEvent, at now: UInt64) -> [CallAction] {
        switch event {
        case .start: startCall(at: now)
        case .join(let hosts): beginJoining(trusting: hosts, at: now)
        case .leave: leaveCall(at: now)
        case .admit(let device): admit(device, at: now)
        case .lost(let device): removeSoon(device, at: now)
        case .exclude(let device): exclude(device, at: now)
        case .readmit(let device): readmit(device, at: now)
        case .suspect: makeFreshSoon(at: now)
        case .signal(let signal): receive(signal, at: now)
        case .packet(let packet): receive(packet, at: now)
        case .frame(let frame): receive(frame, at: now)
        case .relayedFrame(let frame, let alias): receive(frame, carriedFor: alias, at: now)
        case .tick: tick(at: now)
        }
        defer { output = [] }
        return output
    }

    private mutating func tick(at now: UInt64) {
        switch phase {
        case .outside: return repeatFarewell(at: now)
        case .joining(let attempt): return retryJoining(attempt, at: now)
        case .member: break
        }
        if isHost { host(at: now) } else { watchHost(at: now) }
        retrySuccession(at: now)
        turnKey(at: now)
        switchIfDue(at: now)
        applyDeparture(at: now)
        releaseHeld(at: now)
        pursueMissingKeys(at: now)
        pursueReunion(at: now)
        beat(at: now)
        repeatPackets(at: now)
        exchangeDigests(at: now)
        if let reached { ring.wipe(current: reached.generation, at: now) }
    }

    mutating func send(
        _ body: SignalBody, to recipient: CallDevice? = nil, keys: [OfferedKey] = [], at now: UInt64
    ) {
        output.append(.send(draft(body, to: recipient, keys: keys, at: now)))
    }

    mutating func draft(
        _ body: SignalBody, to recipient: CallDevice? = nil, keys: [OfferedKey] = [], at now: UInt64
    ) -> SignalDraft {
        sequence = sequence == 0 ? now : sequence + 1
        return SignalDraft(
            recipient: recipient, term: roster?.term ?? 0, sequence: sequence, sentAt: now, body: body, keys: keys)
    }
}

/// Where a device stands.
enum CallPhase: Equatable {
    case outside
    case joining(JoinAttempt)
    case member
}

/// An attempt to join.
struct JoinAttempt: Equatable {
    let nonce: SignalNonce
    /// The hosts whose welcome is accepted.
    let hosts: Set<CallDevice>
    /// The devices that were removed from the call, as far as this device knew before: it does not join a call that has
    /// them.
    var barred: Set<CallDevice> = []
    var sentAt: UInt64
}

/// A generation that waits for its commit.
struct PendingSwitch {
    let epoch: Epoch
    let notBefore: UInt64
    /// When to switch without a commit.
    let deadline: UInt64
    /// Whether a member left, so that a later rotation may not wait longer.
    var isHasty = false
    var isCommitted = false
}

/// A member left: before long, no device may send under a generation that this member has.
struct Departure {
    /// The first generation that is safe.
    let generation: UInt32
    /// Until when the one before may be used.
    let deadline: UInt64
    /// Whether that time is over. Nothing is sealed then.
    var isOver = false
}
