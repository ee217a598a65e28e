// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
public import SignetClient

/// A change of the directory's keys that verifies under the keys before it. ``OpenHome/follow(_:isApproved:)`` follows it.
public struct DirectoryKeyChange: Hashable, Sendable {
    /// The steps of the change, and the keys and the policy after them.
    public let succession: VerifiedSuccession
    /// Whether there is evidence on this device that the log under the keys before the change has two histories.
    public let holdsEvidence: Bool

    /// Whether other or fewer witnesses suffice after the change.
    public var weakensQuorum: Bool { succession.weakensQuorum }
    /// Whether the user has to approve the change before it is followed.
    public var needsApproval: Bool { weakensQuorum || holdsEvidence }
}

/// Follows changes of the directory's keys during an operation.
extension OpenHome {
    /// Runs an operation of the client. If the directory has changed its keys meanwhile, runs it again under the new ones.
    ///
    /// - Returns: the result, and the home that is now in force, which is a different one after a change of the directory's
    ///   keys.
    /// - Throws: ``SignetError``: ``SignetError/client(_:)``; ``SignetError/quorumWeakened`` and ``SignetError/evidenceHeld``
    ///   if the change needs the user's approval.
    public func run<Value>(
        _ body: (Client<SQLiteStore>) async throws(ClientError) -> Value
    ) async throws(SignetError) -> (value: Value, home: OpenHome) {
        let first: ClientError
        do throws(ClientError) { return (try await body(client), self) } catch { first = error }
        guard let moved = try await caughtUp(after: first) else { throw .client(first) }
        do throws(ClientError) { return (try await body(moved.client), moved) } catch { throw .client(error) }
    }

    /// This home under the directory's new keys, if their change caused a refusal; nil if it did not.
    ///
    /// - Throws: ``SignetError``: the change needs the user's approval.
    public func caughtUp(after error: ClientError) async throws(SignetError) -> OpenHome? {
        guard error.mayBeSuccession, !isGuest else { return nil }
        let succession: VerifiedSuccession
        do {
            guard let found = try await client.succession() else { return nil }
            succession = found
        } catch {
            // A chain that does not verify changes nothing: the refusal stands. A log that contradicts itself is worse.
            guard case .log = error else { return nil }
            throw .client(error)
        }
        return try await follow(try await change(by: succession), isApproved: false)
    }

    /// Asks the directory whether it has changed its keys. Nothing is followed yet.
    ///
    /// - Returns: nil if it has not.
    /// - Throws: ``SignetError``: `.client(.succession)` if a change does not verify under the trust that preceded it.
    public func directoryKeyChange() async throws(SignetError) -> DirectoryKeyChange? {
        let found: VerifiedSuccession?
        do throws(ClientError) { found = try await client.succession() } catch { throw .client(error) }
        guard let found else { return nil }
        return try await change(by: found)
    }

    /// Stores the directory's new keys, and continues under them.
    ///
    /// - Parameter isApproved: whether the user has seen the change and approved it.
    /// - Throws: ``SignetError``: ``SignetError/quorumWeakened`` and ``SignetError/evidenceHeld`` if the change needs the user's
    ///   approval.
    public func follow(_ change: DirectoryKeyChange, isApproved: Bool) async throws(SignetError) -> OpenHome {
        if !isApproved {
            guard !change.weakensQuorum else { throw .quorumWeakened }
            guard !change.holdsEvidence else { throw .evidenceHeld }
        }
        let succession = change.succession
        do throws(ClientError) { try await client.remember(succession) } catch { throw .client(error) }
        do { try folder.directory.replace(with: profile.following(succession).encoded) } catch {
            throw .file(error, path: folder.directory.path)
        }
        return try reopened()
    }

    private func change(by succession: VerifiedSuccession) async throws(SignetError) -> DirectoryKeyChange {
        do throws(ClientError) {
            return DirectoryKeyChange(succession: succession, holdsEvidence: try await client.holdsEvidence())
        } catch { throw .client(error) }
    }
}
