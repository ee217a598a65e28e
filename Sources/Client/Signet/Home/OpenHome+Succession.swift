// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
public import SignetClient

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
        guard !succession.weakensQuorum else { throw .quorumWeakened }
        let isDoubted: Bool
        do throws(ClientError) { isDoubted = try await client.holdsEvidence() } catch { throw .client(error) }
        guard !isDoubted else { throw .evidenceHeld }
        return try await adopt(succession)
    }

    /// Stores the directory's new keys, and continues under them.
    ///
    /// - Throws: ``SignetError``.
    public func adopt(_ succession: VerifiedSuccession) async throws(SignetError) -> OpenHome {
        do throws(ClientError) { try await client.remember(succession) } catch { throw .client(error) }
        do { try folder.directory.replace(with: profile.following(succession).encoded) } catch {
            throw .file(error, path: folder.directory.path)
        }
        return try reopened()
    }
}
