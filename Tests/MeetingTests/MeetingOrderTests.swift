// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Testing

@testable import Meeting

/// All orders in which the messages of a meeting can arrive, be lost, come twice or come back, with both people typing whenever they can.
@Suite struct MeetingOrderTests {
    enum Action: Hashable {
        /// The network gives a side one of the messages that were sent so far, by either side.
        case deliver(MeetingRole, Int)
        /// A person types what the other screen shows.
        case type(MeetingRole)
    }

    /// A side of the meeting, as far as it has come.
    enum Side: ~Copyable {
        case host(MeetingHost)
        case guest(MeetingGuest)
        case agreedHost(AgreedHost)
        case introduced(IntroducedGuest)
        case proved(ProvedMeeting)
        case confirmed(ConfirmedMeeting)
        case over(MeetingRecord?)

        var words: [UInt8]? {
            switch self {
            case .proved(let proved): proved.shownWords.text
            default: nil
            }
        }

        var record: MeetingRecord? {
            switch self {
            case .over(let record): record
            default: nil
            }
        }

        mutating func receive(_ message: [UInt8], _ scene: Scene, _ send: ([UInt8]) -> Void) {
            do {
                switch consume self {
                case .host(let host):
                    let agreed = try host.receive(message, at: Scene.now)
                    send(agreed.opening)
                    self = .agreedHost(agreed)
                case .guest(let guest):
                    let introduced = try guest.receive(message).introduce(
                        scene.guest.person, day: Scene.day, with: scene.guest.sign)
                    send(introduced.message)
                    self = .introduced(introduced)
                case .agreedHost(let agreed):
                    let proved = try agreed.receive(
                        message, as: scene.host.person, day: Scene.day, knowing: [:], with: scene.host.sign)
                    if let answer = proved.answer { send(answer) }
                    self = .proved(proved)
                case .introduced(let introduced): self = .proved(try introduced.receive(message, knowing: [:]))
                // What arrives before the person has typed waits in the connection.
                case .proved(let proved): self = .proved(proved)
                case .confirmed(let confirmed): self = .over(try confirmed.receive(message, knowing: nil).record)
                case .over(let record): self = .over(record)
                }
            } catch { self = .over(nil) }
        }

        mutating func type(_ words: [UInt8], _ send: ([UInt8]) -> Void) {
            do {
                switch consume self {
                case .proved(let proved):
                    let confirmed = try proved.compare(typed: words)
                    send(confirmed.message)
                    self = .confirmed(confirmed)
                case .over(let record): self = .over(record)
                default: self = .over(nil)
                }
            } catch { self = .over(nil) }
        }

        /// Whether a message would be read now.
        var listens: Bool {
            switch self {
            case .proved: false
            case .over: false
            default: true
            }
        }
    }

    /// What is known after some actions.
    struct Outcome {
        var messageCount = 0
        var next: [Action] = []
        var records: [MeetingRole: MeetingRecord] = [:]
        var typed: Set<MeetingRole> = []
    }

    private static func play(_ actions: [Action], _ scene: Scene) throws -> Outcome {
        let opened = try scene.invite()
        let scanned = try scene.scan(opened.invitation)
        var messages = [scanned.hello]
        var outcome = Outcome()
        var host = Side.host(opened)
        var guest = Side.guest(scanned)
        for action in actions {
            switch action {
            case .deliver(.host, let number): host.receive(messages[number], scene) { messages.append($0) }
            case .deliver(.guest, let number): guest.receive(messages[number], scene) { messages.append($0) }
            case .type(let role):
                guard let words = shown(by: role.peer, scene) else { continue }
                outcome.typed.insert(role)
                if role == .host {
                    host.type(words) { messages.append($0) }
                } else {
                    guest.type(words) { messages.append($0) }
                }
            }
        }
        outcome.messageCount = messages.count
        for (role, listens) in [(MeetingRole.host, host.listens), (.guest, guest.listens)] where listens {
            outcome.next += messages.indices.map { .deliver(role, $0) }
        }
        // The words stay on a screen after its owner has typed.
        let (hostShows, guestShows) = (host.words != nil, guest.words != nil)
        if hostShows, guestShows || outcome.typed.contains(.guest) { outcome.next.append(.type(.host)) }
        if guestShows, hostShows || outcome.typed.contains(.host) { outcome.next.append(.type(.guest)) }
        if let record = host.record { outcome.records[.host] = record }
        if let record = guest.record { outcome.records[.guest] = record }
        return outcome
    }

    private static func shown(by role: MeetingRole, _ scene: Scene) -> [UInt8]? {
        role == .host ? try? scene.provedHost().shownWords.text : try? scene.provedGuest().shownWords.text
    }

    @Test func whateverTheNetworkDoes_nobodyKeepsAMeetingThatDidNotHappen() async throws {
        let scene = try Scene()
        var (open, count, both) = ([[Action]()], 0, 0)
        while let actions = open.popLast() {
            let outcome = try Self.play(actions, scene)
            count += 1
            for (role, record) in outcome.records {
                let (own, peer) = role == .host ? (scene.host, scene.guest) : (scene.guest, scene.host)
                #expect(outcome.typed == [.host, .guest], "both people have typed: \(actions)")
                #expect(record.own == own.person && record.peerHandle == peer.person.handle)
                #expect(record.peerKey == peer.person.identityKey && record.role == role)
            }
            if outcome.records.count == 2 { both += 1 }
            open += outcome.next.map { actions + [$0] }
            if count.isMultiple(of: 50) { await Task.yield() }
        }
        #expect(both > 0, "and two who meet are not kept apart")
        #expect(count > 250, "\(count) orders were tried")
    }
}
