// SPDX-License-Identifier: Apache-2.0

/// How an object with one content for ever came to be there.
package enum ImmutableOutcome: Hashable, Sendable {
    /// By this call.
    case written
    /// By an attempt of this call without an answer, or by somebody else, with the same bytes.
    case same
}

/// What became of a swap.
package enum SwapOutcome: Hashable, Sendable {
    /// The bytes are there under this tag.
    case swapped(ObjectTag)
    /// Others are there, or nothing. If an answer had been lost, the bytes may have been there in between.
    case changed(StoredObject?)
}

extension ObjectStore {
    /// Writes an object that has one content for ever. What is there is never overwritten.
    ///
    /// - Throws: ``ObjectFault/contradiction(path:)`` if other bytes are there; any other ``ObjectFault``.
    @discardableResult
    package func putImmutable(
        _ bytes: [UInt8], at path: String, retry: ObjectRetry = .standard
    ) async throws(ObjectFault) -> ImmutableOutcome {
        switch await run(ConditionalWrite(bytes, .ifAbsent, attempts: retry.attempts), at: path, retry) {
        case .written: return .written
        case .same: return .same
        case .other: throw .contradiction(path: path)
        case .failed(let fault): throw fault
        }
    }

    /// Replaces one version of an object; a tag of nil stands for nothing at the path.
    ///
    /// If an answer was lost and the bytes are found there, they are taken for this call's. Two callers that write the same bytes
    /// after the same tag therefore both succeed: who has to be the only one puts its own name into the bytes.
    ///
    /// - Throws: ``ObjectFault``. After ``ObjectFault/outcomeUnknown(_:)`` the bytes may be there, or may arrive as long as `tag` is there.
    package func swap(
        _ bytes: [UInt8], at path: String, after tag: ObjectTag?, retry: ObjectRetry = .standard
    ) async throws(ObjectFault) -> SwapOutcome {
        let condition = tag.map { PutCondition.ifVersion($0) } ?? .ifAbsent
        switch await run(ConditionalWrite(bytes, condition, attempts: retry.attempts), at: path, retry) {
        case .written(let tag), .same(let tag): return .swapped(tag)
        case .other(let object): return .changed(object)
        case .failed(let fault): throw fault
        }
    }

    private func run(_ write: ConditionalWrite, at path: String, _ retry: ObjectRetry) async -> ConditionalWrite.End {
        var write = write
        while true {
            let failures = write.failureCount
            switch write.step {
            case .put: await attempt(&write, at: path)
            case .read: await look(&write, at: path)
            case .finished(let end): return end
            }
            if case .finished = write.step { continue }
            if write.failureCount > failures { await retry.pause(write.failureCount) }
        }
    }

    private func attempt(_ write: inout ConditionalWrite, at path: String) async {
        do throws(ObjectFault) {
            write.putAnswered(try await put(write.bytes, at: path, write.condition))
        } catch {
            write.putFailed(error)
        }
    }

    private func look(_ write: inout ConditionalWrite, at path: String) async {
        do throws(ObjectFault) {
            write.readAnswered(try await get(path))
        } catch {
            write.readFailed(error)
        }
    }
}
