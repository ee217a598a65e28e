// SPDX-License-Identifier: Apache-2.0

import RecoveryClient
import SignetClient

/// Steps with guardians. Each step reads the stored state, changes it and writes it back.
extension Account {
    /// Takes a step as the owner. A change of the directory's keys is followed during the step, so a step may be repeated.
    func owning<Value: Sendable>(
        _ step: @Sendable (OwnerSide<SQLiteStore>) async throws(RecoveryClientError) -> Value
    ) async throws(SignetError) -> Value {
        let secrets = secrets
        return try await recovering { home throws(RecoveryClientError) in
            try await step(OwnerSide(home.client, secrets, RecoveryFiles(in: home.folder)))
        }
    }

    /// Takes a step, alternating with the other programs that use this home folder.
    func recovering<Value: Sendable>(
        _ step: @Sendable (OpenHome) async throws(RecoveryClientError) -> Value
    ) async throws(SignetError) -> Value {
        let (value, home) = try await home.recovering(step)
        move(to: home)
        return value
    }
}

extension OpenHome {
    /// Takes a step with guardians while holding the lock of this home folder.
    func recovering<Value: Sendable>(
        _ step: @Sendable (OpenHome) async throws(RecoveryClientError) -> Value
    ) async throws(SignetError) -> (value: Value, home: OpenHome) {
        let turn = try await turn()
        defer { withExtendedLifetime(turn) {} }
        let first: ClientError
        do throws(RecoveryClientError) { return (try await step(self), self) } catch {
            guard case .client(let refusal) = error else { throw .recovery(error) }
            first = refusal
        }
        guard let moved = try await caughtUp(after: first) else { throw .recovery(.client(first)) }
        do { return (try await step(moved), moved) } catch { throw .recovery(error) }
    }

    /// Takes the lock of this home folder; waits up to twenty seconds for other programs.
    func turn() async throws(SignetError) -> HomeLock {
        for _ in 0..<400 {
            do { if let lock = try folder.lock() { return lock } } catch { throw .file(error, path: folder.path) }
            await surroundings.wait(.milliseconds(50))
        }
        throw .isBusy(folder: folder.path)
    }
}
