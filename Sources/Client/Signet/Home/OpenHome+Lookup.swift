// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SignetClient

/// The result of a lookup, and the home that is now in force, which is a different one after a change of the directory's keys.
public struct DirectoryAnswer: Sendable {
    /// What the answer proved; or the check that the answer failed, for the user to see.
    public let result: Result<LookupAnswer, LookupRefusal>
    /// The home, under the keys by which the answer was judged.
    public let home: OpenHome

    init(_ result: Result<LookupAnswer, ClientError>, _ home: OpenHome) throws(SignetError) {
        self.home = home
        switch result {
        case .success(let answer): self.result = .success(answer)
        case .failure(.lookup(let refusal)): self.result = .failure(refusal)
        case .failure(let error): throw .client(error)
        }
    }
}

extension OpenHome {
    /// Looks a person up, verifies every byte of the answer, and compares it with what was accepted. A change of the directory's
    /// keys is followed during the lookup.
    ///
    /// - Throws: ``SignetError``, as ``run(_:)`` does. An answer that fails a check is a result.
    public func lookup(_ handle: Handle) async throws(SignetError) -> DirectoryAnswer {
        let first = await answer(about: handle)
        guard case .failure(let error) = first, let moved = try await caughtUp(after: error) else {
            return try DirectoryAnswer(first, self)
        }
        return try DirectoryAnswer(await moved.answer(about: handle), moved)
    }

    private func answer(about handle: Handle) async -> Result<LookupAnswer, ClientError> {
        do throws(ClientError) { return .success(try await client.lookup(handle)) } catch { return .failure(error) }
    }
}
