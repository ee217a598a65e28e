// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SeededRandomness

@testable import Meeting

/// A person with an identity key.
struct Somebody: Sendable {
    let person: MeetingPerson
    let identity: P256.Signing.PrivateKey

    init(_ name: String, seed: UInt8, origin: String = "example.org/signet") throws {
        identity = try P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: seed, count: 32))
        let key = Array(identity.publicKey.compressedRepresentation)
        person = try require(
            MeetingPerson(
                handle: Handle(canonical: Array("\(name)@example.org".utf8)), identityKey: key,
                origin: Array(origin.utf8)))
    }

    func sign(_ message: [UInt8]) throws -> [UInt8] { Array(try identity.signature(for: message).rawRepresentation) }
}

struct Missing: Error {}

func require<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Missing() }
    return value
}

/// Two devices with fixed one-time keys, so that a meeting can be played again up to any message.
struct Scene: Sendable {
    static let now: UInt64 = 1_800_000_000
    static let day: UInt64 = 20_833

    var host: Somebody
    var guest: Somebody
    var seed: UInt8 = 1
    var hostDay = Scene.day
    var guestDay = Scene.day
    var known: [Handle: [UInt8]] = [:]
    var wantsReceipt = false

    init(_ host: String = "alice", _ guest: String = "bob", seed: UInt8 = 1) throws {
        self.host = try Somebody(host, seed: 11)
        self.guest = try Somebody(guest, seed: 12)
        self.seed = seed
    }

    private func key(_ number: UInt8) throws -> Curve25519.KeyAgreement.PrivateKey {
        try .init(rawRepresentation: [UInt8](repeating: seed &* 16 &+ number, count: 32))
    }

    private func random(_ count: Int, _ number: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(seed) << 8 | number)
        return generator.bytes(count)
    }

    func invite(at now: UInt64 = Scene.now) throws -> MeetingHost {
        let host = MeetingHost(
            at: [.version4([192, 0, 2, 1])], port: 4711, key: try key(1), randomness: random(48, 1), now: now,
            seconds: 180)
        guard let host else { throw Missing() }
        return host
    }

    func scan(_ invitation: MeetingInvitation, at now: UInt64 = Scene.now) throws -> MeetingGuest {
        try MeetingGuest(to: invitation, key: key(2), number: random(32, 2), now: now)
    }

    /// The keys of the meeting, as the two ends have them.
    func keys() throws -> MeetingKeys {
        let invitation = try invite().invitation
        let hello = try MeetingHello(decoding: scan(invitation).hello, to: invitation)
        return try MeetingKeys(invitation, hello: hello, number: Array(random(48, 1)[..<32]), key(1), with: hello.key)
    }

    // MARK: States, each reached as honest devices do

    func agreedHost() throws -> AgreedHost {
        let host = try invite()
        let hello = try scan(host.invitation).hello
        return try host.receive(hello, at: Self.now)
    }

    func agreedGuest() throws -> AgreedGuest {
        let invitation = try invite().invitation
        return try scan(invitation).receive(agreedHost().opening)
    }

    func introducedGuest() throws -> IntroducedGuest {
        try agreedGuest().introduce(guest.person, day: guestDay, with: guest.sign)
    }

    func provedHost(by proof: [UInt8]? = nil) throws -> ProvedMeeting {
        let proof = try proof ?? introducedGuest().message
        return try agreedHost().receive(
            proof, as: host.person, day: hostDay, knowing: known, with: host.sign)
    }

    func provedGuest(by answer: [UInt8]? = nil) throws -> ProvedMeeting {
        let answer = try answer ?? require(provedHost().answer)
        return try introducedGuest().receive(answer, knowing: known)
    }

    func confirmedHost() throws -> ConfirmedMeeting {
        try provedHost().compare(typed: provedGuest().shownWords.text, wantsReceipt: wantsReceipt)
    }

    func confirmedGuest() throws -> ConfirmedMeeting {
        try provedGuest().compare(typed: provedHost().shownWords.text, wantsReceipt: wantsReceipt)
    }

    func concludedHost(with verdict: [UInt8]? = nil) throws -> ConcludedMeeting {
        try confirmedHost().receive(verdict ?? confirmedGuest().message, knowing: nil)
    }

    func concludedGuest(with verdict: [UInt8]? = nil) throws -> ConcludedMeeting {
        try confirmedGuest().receive(verdict ?? confirmedHost().message, knowing: nil)
    }

    /// What the guest's device would send if its owner put these parts together, properly sealed.
    func guestProof(
        _ person: MeetingPerson? = nil, day: UInt64? = nil, signature: [UInt8]? = nil, binding: [UInt8]? = nil
    ) throws -> [UInt8] {
        let (keys, person) = (try keys(), person ?? guest.person)
        let proof = MeetingProof(
            person, day: day ?? guestDay, signature: try signature ?? guest.sign(keys.statement(of: .guest)),
            binding: binding ?? Array(keys.binding(of: person, as: .guest)))
        return try keys.seal(proof.plaintext, .proof, by: .guest)
    }
}

/// The error that a step throws; nil if it throws none.
func refusal(_ step: () throws -> Void) -> MeetingError? {
    do {
        try step()
        return nil
    } catch { return error as? MeetingError }
}
