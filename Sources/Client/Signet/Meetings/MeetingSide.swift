// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import Meeting
import MeetingClient
import SignetClient

/// This device's side of a meeting: whose it is, and what it needs to prove that and to keep the meeting.
struct MeetingSide: Sendable {
    let account: Account
    let secrets: DeviceSecrets
    let own: MeetingPerson
    let day: UInt64
    /// Seals the record.
    let key: SymmetricKey

    func sign(_ statement: [UInt8]) throws -> [UInt8] { try secrets.signAsIdentity(statement) ?? [] }

    /// The guest's part up to the words.
    func join(
        _ guest: consuming MeetingGuest, _ invitation: MeetingInvitation
    ) async throws(SignetError) -> UnconfirmedMeeting {
        let known = try await account.identityKeysForMeeting()
        let link: MeetingLink
        do throws(MeetingLinkError) { link = try await MeetingLink.connect(to: invitation) } catch {
            throw .meeting(.link(error))
        }
        do {
            try await link.send(guest.hello)
            let opening = try await link.receive()
            let introduced = try guest.receive(opening).introduce(own, day: day, with: sign)
            try await link.send(introduced.message)
            let answer = try await link.receive()
            return UnconfirmedMeeting(try introduced.receive(answer, knowing: known), link, self)
        } catch {
            await link.close()
            throw MeetingRefusal.error(error)
        }
    }

    /// The host's part up to the words, after somebody has come who saw the invitation.
    ///
    /// - Parameter now: seconds since 1970.
    func receive(
        _ hello: [UInt8], as host: consuming MeetingHost, over link: MeetingLink, at now: UInt64
    ) async throws(SignetError) -> UnconfirmedMeeting {
        let known = try await account.identityKeysForMeeting()
        do {
            let agreed = try host.receive(hello, at: now)
            try await link.send(agreed.opening)
            let proof = try await link.receive()
            let proved = try agreed.receive(proof, as: own, day: day, knowing: known, with: sign)
            if let answer = proved.answer { try await link.send(answer) }
            return UnconfirmedMeeting(proved, link, self)
        } catch {
            await link.close()
            throw MeetingRefusal.error(error)
        }
    }
}
