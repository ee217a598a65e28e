// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
import SignetClient

/// The keys of people that are believed during one sync. Every key comes from a verified lookup. The results are
/// remembered until ``forget()``.
final class PeopleInSync<Store: ClientStore> {
    private let client: Client<Store>
    private let author: Author
    /// How many people are looked up whom the user does not know and no believed record names.
    private let maximumUnexpected: Int

    /// Verified keys of people.
    private var keysOfPeople: [Handle: AuthorKeys] = [:]
    /// The people whose devices or identity have changed, and whose change the user has not accepted.
    private(set) var changed: Set<Handle> = []
    private var unexpectedCount = 0
    /// The user's own account.
    private var own: VerifiedLookup?
    /// The epoch of a verified lookup; the state of notes is read from the log in this epoch.
    private var epochOfLookup: VerifiedEpoch?
    /// Ed25519 keys of the account's removed devices, while what they wrote before is being fetched; otherwise empty.
    /// ``forget()`` keeps them.
    var devicesOfBefore: [[UInt8]] = []

    init(_ client: Client<Store>, _ author: Author, maximumUnexpected: Int) {
        self.client = client
        self.author = author
        self.maximumUnexpected = maximumUnexpected
    }

    /// Forgets the answers of an earlier sync.
    func forget() {
        (own, keysOfPeople, changed, epochOfLookup) = (nil, [:], [], nil)
        unexpectedCount = 0
    }

    // MARK: The user's account

    /// The user's own account as this device knows and accepts it.
    nonisolated(nonsending) func ownLookup() async throws(NotesError) -> VerifiedLookup {
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

    /// The keys that a verified answer lists. For the user's own account, the keys of removed devices are added while
    /// what they wrote is being fetched.
    func keys(_ lookup: VerifiedLookup) -> AuthorKeys {
        guard lookup.state.handle == author.handle else { return AuthorKeys(lookup) }
        return AuthorKeys(
            pinned: lookup.state.devices.map(\.keys.signing) + devicesOfBefore, of: author.handle)
    }

    /// The epoch of the newest lookup. If there was none, the user's own account is looked up.
    nonisolated(nonsending) func newestEpoch() async throws(NotesError) -> VerifiedEpoch {
        if let epochOfLookup { return epochOfLookup }
        return try await ownLookup().epoch
    }

    /// Forgets the epoch after a newer one has ended, so that the next lookup gives a new one.
    func forgetEpoch() { (own, epochOfLookup) = (nil, nil) }

    // MARK: Recipients

    /// The devices that a note's key may be encrypted to.
    ///
    /// - Throws: ``NotesError``: the user has not added this person, or none of the person's accepted devices is left.
    nonisolated(nonsending) func recipients(_ handle: Handle) async throws(NotesError) -> [WrapRecipient] {
        try await recipients(handle, in: verdict(handle))
    }

    private nonisolated(nonsending) func recipients(
        _ handle: Handle, in verdict: LookupVerdict
    ) async throws(NotesError) -> [WrapRecipient] {
        switch verdict.outcome {
        case .matched, .firstPinned, .accepted: return WrapRecipient.devices(of: verdict.lookup)
        case .stranger: throw .stranger(handle)
        case .contradicted(let contradiction): throw .contradicted(handle, contradiction)
        case .changed(let change):
            // Devices that the user accepted stay recipients if they are still listed; new ones wait for the user's
            // decision.
            let pinned = try await pinnedPeer(handle)?.devices ?? []
            let rest = WrapRecipient.devices(of: verdict.lookup).filter { recipient in
                pinned.contains { $0.signingKey == recipient.author.device && $0.keysHash == recipient.keysHash }
            }
            guard !rest.isEmpty else { throw .changedKeys(handle, change) }
            return rest
        }
    }

    /// The devices of a person who is about to become a member. A change of keys stops the step.
    ///
    /// - Parameter answer: the result of looking the person up. Its epoch is used to read the state of notes from the
    ///   log.
    nonisolated(nonsending) func newRecipients(
        _ handle: Handle, in answer: Result<LookupVerdict, ClientError>
    ) async throws(NotesError) -> [WrapRecipient] {
        let verdict: LookupVerdict
        do { verdict = try answer.get() } catch { throw .client(error) }
        if case .changed(let change) = verdict.outcome { throw .changedKeys(handle, change) }
        epochOfLookup = verdict.lookup.epoch
        return try await recipients(handle, in: verdict)
    }

    // MARK: Authors

    /// The keys by which the records of these people are judged. A person without an account has no keys.
    ///
    /// - Parameter expected: the people who are or were members according to believed records. They and the people whom
    ///   the user knows are always looked up. A server may name any number of others, so at most ``FeedBounds/people``
    ///   are looked up in one sync.
    nonisolated(nonsending) func authors(
        _ handles: Set<Handle>, expecting expected: Set<Handle>
    ) async throws(NotesError) -> KnownAuthors {
        var keys: [AuthorKeys] = []
        for handle in handles {
            if let found = try await authorKeys(handle, isExpected: expected.contains(handle)) { keys.append(found) }
        }
        return KnownAuthors(keys)
    }

    private nonisolated(nonsending) func authorKeys(
        _ handle: Handle, isExpected: Bool
    ) async throws(NotesError) -> AuthorKeys? {
        if let known = keysOfPeople[handle] { return known }
        if !isExpected, try await pinnedPeer(handle) == nil {
            guard unexpectedCount < maximumUnexpected else { return nil }
            unexpectedCount += 1  // up to the bound
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
            changed.insert(handle)
            found = AuthorKeys(verdict.lookup, acceptedIn: try await pinnedPeer(handle))
        }
        keysOfPeople[handle] = found
        return found
    }

    private nonisolated(nonsending) func verdict(_ handle: Handle) async throws(NotesError) -> LookupVerdict {
        do { return try await client.lookup(handle).verdict } catch { throw .client(error) }
    }

    private nonisolated(nonsending) func pinnedPeer(_ handle: Handle) async throws(NotesError) -> PinnedPeer? {
        do { return try await client.store.pinnedPeer(handle) } catch { throw .store(error) }
    }
}

extension Client {
    /// A lookup whose error is returned as a value, so that it can run beside another request.
    func answer(about handle: Handle) async -> Result<LookupVerdict, ClientError> {
        do throws(ClientError) { return .success(try await lookup(handle).verdict) } catch { return .failure(error) }
    }
}
