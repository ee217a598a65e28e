// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI
import Synchronization

// After a disaster a directory can have the log, and have lost states whose records are in it: an older copy of its database was restored. Such
// an account is answered as unavailable until its owner's devices bring again what they brought.
extension Client {
    /// Does what needs the directory to show the user's own account. If it cannot, it may have lost it: what this device has brought is brought again,
    /// and the same is tried once more. If that succeeds, the user is told of it (``takeBroughtAgain()``).
    ///
    /// - Throws: what `body` throws, and what ``bringAgain()`` does.
    func bringingAgain<Value>(
        _ body: () async throws(ClientError) -> Value
    ) async throws(ClientError) -> Value {
        do throws(ClientError) { return try await body() } catch {
            guard error.isUnavailable else { throw error }
            let versions = try await bringAgain()
            guard !versions.isEmpty else { throw error }
            let value = try await body()
            broughtAgain.add(versions)
            return value
        }
    }

    /// The versions of the user's own account that were brought again and of which the user has not been told yet.
    package func takeBroughtAgain() -> [UInt64] { broughtAgain.take() }

    /// Brings again what this device has brought of the user's own account, the oldest first, byte for byte and with the signatures of then. No key
    /// is needed, and nothing is sent that was not sent before.
    ///
    /// A directory that has a state answers with its receipt, and nothing changes; so one that only says that it has lost something learns nothing,
    /// and gets ``KeptSubmission/maximumCount`` requests for it at most. What is still pending may be in the log too, and comes last.
    ///
    /// - Returns: the versions that the directory has taken or had. It ends at the first one that it refuses: one before it is lost too, and another
    ///   device has brought that, or the directory is unavailable for another reason.
    /// - Throws: ``ClientError``; ``ClientError/notWhatWasSent``: the receipt is for another place in the log than the one that the log has shown.
    private func bringAgain() async throws(ClientError) -> [UInt64] {
        let kept = try await stored { () throws(StoreError) in try await store.keptSubmissions(of: origin) }
        var versions: [UInt64] = []
        for submission in kept {
            let receipt: StateReceipt
            do { receipt = try await calls.bringAgain(submission.submission, signedThen: submission.signature) } catch {
                guard case .refused = error else { throw error }
                return versions
            }
            guard receipt.index == submission.index, receipt.size > receipt.index else { throw .notWhatWasSent }
            versions.append(submission.version)
        }
        return try await versions + bringPendingAgain()
    }

    /// Whether the log has it is for the next lookup to say; it stays pending.
    private func bringPendingAgain() async throws(ClientError) -> [UInt64] {
        let record = try await ownRecord()
        guard let bytes = record.pending, let signature = record.pendingSignature,
            let submission = try? StateSubmission(decoding: bytes)
        else { return [] }
        do { _ = try await calls.bringAgain(bytes, signedThen: signature) } catch {
            guard case .refused = error else { throw error }
            return []
        }
        return [submission.state.version]
    }
}

/// What a client has brought again since somebody asked.
final class BroughtAgain: Sendable {
    private let versions = Mutex<Set<UInt64>>([])

    func add(_ more: [UInt64]) { versions.withLock { $0.formUnion(more) } }

    func take() -> [UInt64] {
        versions.withLock { versions in
            defer { versions = [] }
            return versions.sorted()
        }
    }
}

extension ClientError {
    /// Whether the directory says that it cannot answer now; for an account whose states it has lost it says so each time.
    var isUnavailable: Bool { if case .refused(.unavailable, _) = self { true } else { false } }
}
