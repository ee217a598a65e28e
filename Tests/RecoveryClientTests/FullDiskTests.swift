// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyTransparency
import SQLStores
import SignetAPI
import SocialRecovery
import Testing

@testable import RecoveryClient
@testable import RecoveryStore

/// Strangers have filled the server's disk up to the directory's share: a person who lost all devices can still ask,
/// and strangers cannot fill that share with requests.
@Suite(.everyEngine) struct FullDiskTests {
    let village: Village
    private let ana: Villager
    private let ben: Villager
    private let askKey = Curve25519.Signing.PrivateKey()
    private let commitment: RecoveryCommitment
    private let secret = [UInt8](repeating: 7, count: 32)

    init() async throws {
        village = try await Village()
        ana = try Villager("ana", in: village)
        ben = try Villager("ben", in: village)
        commitment = try RecoveryCommitment(
            epoch: 1, delay: 5, recoveryKey: Array(P256.Signing.PrivateKey().publicKey.compressedRepresentation),
            bundle: [], askKey: Array(askKey.publicKey.rawRepresentation))
    }

    /// A request that differs from those of other numbers.
    private func asking(_ number: Int) -> RecoveryAsking {
        RecoveryAsking(
            owner: ana.handle, box: Array(SHA256.hash(data: secret)), commitment: commitment, start: nil,
            request: [UInt8(number >> 8), UInt8(number & 255)])
    }

    private func sign(_ message: [UInt8]) -> [UInt8] { (try? askKey.signature(for: message)).map(Array.init) ?? [] }

    /// The answer that ben, who holds the ask key, gets about a request.
    private func seen(_ asking: RecoveryAsking) async throws -> RecoveryAsked? {
        let query = RecoveryQuery(.request(asking.requestHash), for: ana.handle, from: ben.handle, signing: sign)
        return try await village.mailbox.request(query, from: ben.handle)
    }

    @Test func aRecoveryCompletesWhileTheDiskIsFull() async throws {
        let family = try await Family()
        try await family.setUp()
        family.village.isFull.isSet = true
        let device = try Villager("ming", in: family.village, device: "-new")
        _ = try await device.newDevice.start(calling: [])
        try await family.help(device)
        #expect(try await device.newDevice.finish().people.count == 5)
    }

    /// Stores requests for `count` accounts in one transaction.
    private func fill(_ count: Int, from network: [UInt8], at now: UInt64) async throws {
        try await village.mailbox.write { database in
            for number in 0..<count {
                let hash = Array(SHA256.hash(data: [UInt8(number >> 8), UInt8(number & 255), 1]))
                try database.run(
                    """
                    INSERT INTO requests (owner, hash, number, box, commitment, request, network, time)
                    VALUES (?, ?, 1, ?, ?, ?, ?, ?)
                    """,
                    [
                        Array("p\(number)@example.org".utf8), hash, hash, commitment.encoded, hash, network, Int64(now),
                    ])
            }
        }
    }

    /// The attack: a stranger asks for all accounts.
    @Test func requestsOfAllAccountsAreLimited_andTheNetworkWithMostRequestsLosesThem() async throws {
        let (mailbox, now, before) = (village.mailbox, village.clock.now, asking(2000))
        func count() async throws -> Int {
            try await mailbox.read { try $0.count("SELECT COUNT(*) FROM requests") }
        }
        try await mailbox.keep(before, from: [2], at: now)
        village.isFull.isSet = true
        let (greedy, bound) = ([1] as [UInt8], MailboxStore.requestsInReserve)
        try await fill(bound - 2, from: greedy, at: now)
        #expect(try await mailbox.keep(asking(1), from: greedy, at: now) != nil)
        #expect(try await count() == bound)
        #expect(
            try await mailbox.keep(asking(2), from: greedy, at: now) == nil, "only its own network would lose one")
        let person = asking(2001)
        let number = try await mailbox.keep(person, from: [3], at: now)
        #expect(number != nil)
        for kept in [person, before] { #expect(try await seen(kept) != nil, "the stranger lost one") }
        #expect(try await count() == bound)
        // Once there is room again, the limit over all accounts does not apply, and the requests above it are kept.
        village.isFull.isSet = false
        #expect(try await mailbox.keep(asking(2002), from: greedy, at: now) != nil)
        #expect(try await count() == bound + 1)
        village.isFull.isSet = true
        #expect(try await mailbox.keep(person, from: [3], at: now) == number)
        #expect(try await count() == bound + 1, "the same request again replaces no other")
        #expect(try await mailbox.keep(asking(2003), from: [4], at: now) != nil)
        #expect(try await count() == bound + 1)
    }

    /// The hashes of all requests except the one of a number.
    private func others(than number: Int) async throws -> Set<[UInt8]> {
        let own = asking(number).requestHash
        return try await village.mailbox.read { try Set($0.rows("SELECT hash FROM requests").map { try $0.bytes(0) }) }
            .subtracting([own])
    }

    /// The attack: a stranger keeps asking where there is no room, so that others lose their requests.
    @Test(arguments: [true, false]) func aRefusedRequestRemovesNoOther(
        refusedByItsAccount: Bool
    ) async throws {
        let (mailbox, now, greedy) = (village.mailbox, village.clock.now, [1] as [UInt8])
        // One network has filled the account, and another all accounts together, with more than are kept on a full
        // disk.
        for number in 0..<MailboxStore.requestsPerAccount {
            try await mailbox.keep(asking(number), from: refusedByItsAccount ? greedy : [2], at: now)
        }
        try await fill(MailboxStore.requestsInReserve, from: refusedByItsAccount ? [2] : greedy, at: now)
        village.isFull.isSet = true
        let before = try await others(than: 2000)
        #expect(try await mailbox.keep(asking(2000), from: greedy, at: now) == nil)
        #expect(try await others(than: 2000) == before)
        #expect(try await seen(asking(2000)) == nil)
    }

    /// The attack: a stranger without guardians' answers stores as many revealed numbers as possible.
    @Test func aRequestThatNoGuardianAnsweredRevealsNoNumber() async throws {
        let (mailbox, now, asking) = (village.mailbox, village.clock.now, asking(1))
        village.isFull.isSet = true
        try await mailbox.keep(asking, from: [1], at: now)
        let number = [UInt8](repeating: 1, count: RecoveryReveal.byteCount)
        let collection = RecoveryCollection(
            request: asking.requestHash, secret: secret, after: 0,
            reveals: [RecoveryReveal(to: ben.handle, number: number)])
        #expect(try await mailbox.answers(collection)?.letters.isEmpty == true)
        #expect(try await seen(asking)?.reveal == .some(nil))
        let answer = RecoveryAnswer(
            to: asking.requestHash, body: [UInt8](repeating: 1, count: RecoveryLetter.bodyByteCount), from: ben.handle,
            signing: sign)
        #expect(try await mailbox.keep(answer, from: ben.handle, at: now) == .taken)
        #expect(try await mailbox.answers(collection)?.letters.count == 1)
        #expect(try await seen(asking)?.reveal == number)
    }
}
