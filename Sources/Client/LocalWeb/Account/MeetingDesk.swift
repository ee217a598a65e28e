// SPDX-License-Identifier: Apache-2.0

import Signet

/// A meeting in person, from the code on one screen to what both devices keep: one at a time.
actor MeetingDesk {
    enum Stage: Sendable {
        case none
        /// The code is on this screen.
        case showing(OpenInvitation)
        /// The devices have proved whose they are; the words are to be typed.
        case proved(UnconfirmedMeeting)
        /// The user has typed the words; the other person has not yet.
        case waiting(UnconfirmedMeeting)
        case kept(KeptInPerson, wantsReceipt: Bool)
        case failed(SignetError)
    }

    private(set) var stage = Stage.none
    /// What the user gives and asks, once both have confirmed.
    private var offer = MeetingOffer()
    private var wantsReceipt = false
    /// Tells what comes of an attempt from what came of one before it.
    private var attempt = 0

    /// Shows a code, and waits for whoever reads it.
    func show(
        by account: Account, at addresses: [MeetingAddress], on day: UInt64, giving offer: MeetingOffer,
        wantsReceipt: Bool
    ) async throws(SignetError) {
        await end()
        let number = begin(.none)
        let open = try await account.invite(at: addresses, on: day)
        guard move(to: .showing(open), of: number) else { return await open.close() }
        (self.offer, self.wantsReceipt) = (offer, wantsReceipt)
        Task {
            do throws(SignetError) {
                let meeting = try await open.wait()
                guard await self.move(to: .proved(meeting), of: number) else { return await meeting.decline() }
            } catch { _ = await self.move(to: .failed(error), of: number) }
        }
    }

    /// Goes to the device whose code was read.
    func join(
        _ invitation: MeetingInvitation, by account: Account, on day: UInt64, giving offer: MeetingOffer,
        wantsReceipt: Bool
    ) async throws(SignetError) {
        await end()
        let number = begin(.none)
        let meeting = try await account.join(invitation, on: day)
        (self.offer, self.wantsReceipt) = (offer, wantsReceipt)
        guard move(to: .proved(meeting), of: number) else { return await meeting.decline() }
    }

    /// Compares the words on the other screen, as the user typed them. What comes of it is the next stage.
    ///
    /// - Throws: ``SignetError`` if the text cannot be such words; that is no try.
    func compare(typed: String) throws(SignetError) {
        guard case .proved(let meeting) = stage else { return }
        guard MeetingWords.isWhole(typed: Array(typed.utf8)) else { throw .meeting(.incompleteWords) }
        let (number, offer, wantsReceipt) = (begin(.waiting(meeting)), offer, wantsReceipt)
        Task {
            do throws(SignetError) {
                let kept = try await meeting.confirm(typed: typed, wantsReceipt: wantsReceipt, giving: offer)
                _ = await self.move(to: .kept(kept, wantsReceipt: wantsReceipt), of: number)
            } catch { _ = await self.move(to: .failed(error), of: number) }
        }
    }

    /// Takes the code back, says no to what waits, or puts away what came of it.
    func end() async {
        let was = stage
        _ = begin(.none)
        switch was {
        case .showing(let open): await open.close()
        case .proved(let meeting), .waiting(let meeting): await meeting.decline()
        case .none, .kept, .failed: break
        }
    }

    private func begin(_ stage: Stage) -> Int {
        (self.stage, attempt) = (stage, attempt + 1)
        return attempt
    }

    private func move(to stage: Stage, of number: Int) -> Bool {
        guard number == attempt else { return false }
        self.stage = stage
        return true
    }
}
