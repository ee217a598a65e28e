// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import NoteLog
import SealedNotes
public import SignetClient

/// A person whose keys were verified and are the ones that the user accepted. Only ``Account`` makes one.
public struct Contact: Hashable, Sendable {
    /// The person's handle.
    public let handle: Handle
    /// The number of the person's devices.
    public let deviceCount: Int
    /// Whether nothing was known about the person before, so that there was nothing to compare the answer with.
    public let isFirstContact: Bool
    /// Whether the user compared the person's identity key, in person or on a call: ``Account/identities(with:)``.
    public let comparison: ComparisonState

    let recipients: [WrapRecipient]
    let authorKeys: AuthorKeys
}

extension Account {
    /// How long a verified answer about a person is reused, in seconds.
    static let freshness: UInt64 = 30

    /// Looks a person up, verifies every byte of the answer, and compares it with what was accepted.
    ///
    /// - Throws: ``SignetError``: ``SignetError/stranger(_:)`` if the user has not added the person;
    ///   ``SignetError/changed(_:)``; ``SignetError/contradicted(_:_:)``.
    public func contact(_ handle: Handle) async throws(SignetError) -> Contact {
        if let contact = knownContact(handle) { return contact }
        return try await contact(try await verdict(handle))
    }

    /// Accepts a change of a person's devices or identity, after the user has approved it. The log must still show exactly the
    /// change that the user saw.
    ///
    /// - Throws: ``SignetError``.
    public func accept(_ change: KeyChange) async throws(SignetError) -> Contact {
        known[change.handle] = nil
        let verdict = try await run { client throws(ClientError) in
            try await client.trust(change.handle, accepting: change.stateHash)
        }
        return try await contact(verdict)
    }

    /// The numbers and codes for comparing identities with a person, in person or on a call on which the user recognises their
    /// voice.
    ///
    /// - Throws: ``SignetError``.
    public func identities(with handle: Handle) async throws(SignetError) -> ComparedIdentities {
        try await run { client throws(ClientError) in try await client.identities(with: handle) }
    }

    /// Records that the user and another person compared their identities and found each other's keys; see
    /// ``OpenHome/keep(_:metOn:)``.
    ///
    /// - Throws: ``SignetError``.
    public func keep(_ matched: MatchedIdentities, metOn: UInt64? = nil) async throws(SignetError) {
        known[matched.identities.peer] = nil
        try await home.keep(matched, metOn: metOn)
    }

    // MARK: Inside

    func knownContact(_ handle: Handle) -> Contact? {
        known[handle].flatMap { surroundings.now() < $0.time + Self.freshness ? $0.contact : nil }
    }

    /// What has changed about a person, or about the user's own account; nil if everything is as it was accepted.
    package func keyChange(of handle: Handle) async throws(SignetError) -> KeyChange? {
        try await verdict(handle).keyChange
    }

    func verdict(_ handle: Handle) async throws(SignetError) -> LookupVerdict {
        try await run { client throws(ClientError) in try await client.lookup(handle).verdict }
    }

    func contact(_ verdict: LookupVerdict) async throws(SignetError) -> Contact {
        let handle = verdict.handle
        switch verdict.outcome {
        case .matched, .firstPinned, .accepted: break
        case .stranger: throw .stranger(handle)
        case .contradicted(let contradiction): throw .contradicted(handle, contradiction)
        case .changed(let change):
            throw .changed(KeyChange(verdict, change))
        }
        let comparison: ComparisonState
        do { comparison = try await home.client.comparison(with: handle) } catch { throw .client(error) }
        let recipients = WrapRecipient.devices(of: verdict.lookup)
        let contact = Contact(
            handle: handle, deviceCount: recipients.count, isFirstContact: verdict.isFirstContact,
            comparison: comparison, recipients: recipients, authorKeys: AuthorKeys(verdict.lookup))
        known[handle] = (contact, surroundings.now())
        return contact
    }
}

extension Handle {
    /// A handle as a user types it, such as `alice@example.org`.
    ///
    /// - Throws: `HandleError`.
    public init(_ text: String) throws(HandleError) { try self.init(typed: Array(text.utf8)) }
}
