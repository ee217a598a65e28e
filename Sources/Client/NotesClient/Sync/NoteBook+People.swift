// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
import SignetClient

/// The only way to get a person's keys, which goes through a verified lookup.
extension NoteBook {
    /// The devices that a note's key may be encrypted to.
    ///
    /// - Throws: ``NotesError``: the user did not choose this person, or no device is left that the user accepted.
    func recipients(_ handle: Handle) async throws(NotesError) -> [WrapRecipient] {
        try await recipients(handle, in: verdict(handle))
    }

    private func recipients(_ handle: Handle, in verdict: LookupVerdict) async throws(NotesError) -> [WrapRecipient] {
        switch verdict.outcome {
        case .matched, .firstPinned, .accepted: return WrapRecipient.devices(of: verdict.lookup)
        case .stranger: throw .stranger(handle)
        case .contradicted(let contradiction): throw .contradicted(handle, contradiction)
        case .changed(let change):
            // What was accepted and is still there goes on; what is new waits for the user.
            let pinned = try await pinnedPeer(handle)?.devices ?? []
            let rest = WrapRecipient.devices(of: verdict.lookup).filter { recipient in
                pinned.contains { $0.signingKey == recipient.author.device && $0.keysHash == recipient.keysHash }
            }
            guard !rest.isEmpty else { throw .changedKeys(handle, change) }
            return rest
        }
    }

    /// The devices of a person who is to become a member: here a change stops everything.
    ///
    /// - Parameter answer: what was found of them; its epoch is good for what the log says of notes.
    func newRecipients(
        _ handle: Handle, in answer: Result<LookupVerdict, ClientError>
    ) async throws(NotesError) -> [WrapRecipient] {
        let verdict: LookupVerdict
        do { verdict = try answer.get() } catch { throw .client(error) }
        if case .changed(let change) = verdict.outcome { throw .changedKeys(handle, change) }
        newestEpoch = verdict.lookup.epoch
        return try await recipients(handle, in: verdict)
    }

    /// The keys by which records of these people are judged; none for a person who has none.
    ///
    /// - Parameter expected: who is or was a member by what is believed. They and people the user knows are always looked up; of others
    ///   a server may name any number, and no more than ``FeedBounds/people`` are in one sync.
    func authors(_ handles: Set<Handle>, expecting expected: Set<Handle>) async throws(NotesError) -> KnownAuthors {
        var keys: [AuthorKeys] = []
        for handle in handles {
            if let found = try await authorKeys(handle, isExpected: expected.contains(handle)) { keys.append(found) }
        }
        return KnownAuthors(keys)
    }

    private func authorKeys(_ handle: Handle, isExpected: Bool) async throws(NotesError) -> AuthorKeys? {
        if let known = keysOfPeople[handle] { return known }
        if !isExpected, try await pinnedPeer(handle) == nil {
            guard unexpectedPeople < bounds.people else { return nil }
            unexpectedPeople += 1  // up to the bound
        }
        let answer: LookupAnswer
        do { answer = try await client.lookup(handle) } catch { throw .client(error) }
        guard case .registered(let verdict) = answer else {
            keysOfPeople[handle] = AuthorKeys(pinned: [], of: handle)
            return nil
        }
        let found: AuthorKeys
        switch verdict.outcome {
        case .matched, .firstPinned, .accepted, .stranger: found = keys(verdict.lookup)
        case .contradicted: return nil
        case .changed:
            changedPeople.insert(handle)
            found = AuthorKeys(verdict.lookup, acceptedIn: try await pinnedPeer(handle))
        }
        keysOfPeople[handle] = found
        return found
    }

    /// The own account as this device knows and accepts it.
    func ownLookup() async throws(NotesError) -> VerifiedLookup {
        if let own { return own }
        let verdict = try await verdict(author.handle)
        switch verdict.outcome {
        case .matched, .firstPinned, .accepted:
            own = verdict.lookup
            keysOfPeople[author.handle] = keys(verdict.lookup)
            return verdict.lookup
        case .stranger: throw .client(.misuse(.deviceNotAddedYet))
        case .changed(let change): throw .client(.ownAccountChanged(change))
        case .contradicted(let contradiction): throw .client(.contradicted(contradiction))
        }
    }

    /// The keys that a verified answer lists; of oneself, while a recovery brings back, those from before too.
    func keys(_ lookup: VerifiedLookup) -> AuthorKeys {
        guard lookup.state.handle == author.handle else { return AuthorKeys(lookup) }
        return AuthorKeys(
            pinned: lookup.state.devices.map(\.keys.signing) + devicesOfBefore, of: author.handle)
    }

    /// Forgets the answers of an earlier sync.
    func forgetPeople() {
        (own, keysOfPeople, changedPeople, compared, newestEpoch) = (nil, [:], [], [], nil)
        unexpectedPeople = 0
    }

    private func verdict(_ handle: Handle) async throws(NotesError) -> LookupVerdict {
        do { return try await client.lookup(handle).verdict } catch { throw .client(error) }
    }

    private func pinnedPeer(_ handle: Handle) async throws(NotesError) -> PinnedPeer? {
        do { return try await client.store.pinnedPeer(handle) } catch { throw .store(error) }
    }
}

extension Client {
    /// A lookup that is under way while something else is asked for.
    func answer(about handle: Handle) async -> Result<LookupVerdict, ClientError> {
        do throws(ClientError) { return .success(try await lookup(handle).verdict) } catch { return .failure(error) }
    }
}
