// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import KeyTransparency
import STOMP
import SignalClient
import SignetAPI
import SignetClient
import SignetTesting
import Testing

/// Two people who take no part in a flood, and call each other meanwhile.
struct Bystanders: Sendable {
    private let people: [(device: TestDevice, directory: Client<InMemoryStore>, relay: RelayClient)]

    /// Registers both and connects them. They accept a minute of silence: a machine that a flood keeps busy is not the
    /// relay's fault, and a relay that drops them ends the connection.
    init(at profile: DirectoryProfile) async throws {
        people = try await TestDevice.members(["alice@example.org", "bob@example.org"], at: profile).map {
            ($0.0, $0.1, try $0.0.client(profile, heartBeat: 60_000))
        }
    }

    /// One rings, the other hears it and joins, a signal and a frame arrive. The relay refuses nothing and drops no
    /// connection.
    func call() async throws {
        let (alice, bob, call) = (people[0], people[1], TestDevice.call())
        try await alice.relay.carryOut(.start(call, inviting: [bob.device.device]))
        var generator = SystemRandomNumberGenerator()
        let ring = try Ring(
            id: SignalNonce(using: &generator), duration: 30, caller: alice.device.secrets.handle.bytes,
            others: [bob.device.secrets.handle.bytes])
        let signal = try alice.device.signal(.ring(ring), 1, in: call, to: bob.device.device)
        try await alice.relay.send(signal)
        let inbox = try await bob.relay.subscribe(to: .inbox(bob.device.device), mode: .individual)
        var letters = inbox.makeAsyncIterator()
        let letter = try #require(try await letters.next())
        #expect(letter.body == signal.encoded)
        await bob.relay.acknowledge(letter)
        try await bob.relay.carryOut(.join(call))
        let topic = try await bob.relay.subscribe(to: .topic(call))
        let word = try alice.device.signal(2, in: call)
        try await alice.relay.send(word)
        var heard = topic.makeAsyncIterator()
        #expect(try await heard.next()?.body == word.encoded)
        try await talk(in: call)
        for person in people {
            await person.relay.close()
            for await event in person.relay.events { #expect(event == .connected) }
        }
    }

    private func talk(in call: CallID) async throws {
        var guests: [FrameGuest] = []
        defer { for guest in guests { guest.close() } }
        for person in people {
            guests.append(try await FrameGuest(call, person.directory, as: person.device))
        }
        var stays: [UInt64] = []
        // A datagram may be lost even here, and a device that is silent for 15 seconds is dropped, as one is on a busy machine.
        var packet: RelayPacket?
        while packet == nil, !Task.isCancelled {
            stays = []
            for guest in guests {
                let reception = try await guest.enter()
                guard case .welcome(let stay) = reception else {
                    Issue.record("\(reception)")
                    return
                }
                stays.append(stay)
            }
            try await guests[0].send(guests[0].key.frame([1, 2, 3], stays[0]))
            packet = await guests[1].next(within: .milliseconds(300))
        }
        let (alias, key) = (MemberAlias(of: people[0].device.device, in: call), guests[1].key)
        #expect(packet == key.relayed([1, 2, 3], of: alias, try #require(stays.last)))
    }
}
