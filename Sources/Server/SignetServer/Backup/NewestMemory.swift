// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import KeyDirectory
import LogEngine
import Logging
public import TransparencyLog

/// A second memory of the newest checkpoint, a file on another disk than the data directory: an operator who restores
/// an older state of the one still has the other.
///
/// It is written before a checkpoint goes to the witnesses or is published, and holds that checkpoint as it was signed. An empty
/// file is a memory that begins; a missing one is a disk that is not mounted.
public struct NewestMemory: Hashable, Sendable {
    /// The file.
    public let path: String

    /// The memory in a file.
    public init(path: String) { self.path = path }

    /// What was remembered last of the log of this name; nil for a memory that begins.
    ///
    /// - Throws: ``NewestMemoryError``.
    public func head(of origin: KeyName) throws(NewestMemoryError) -> TreeHead? {
        let bytes: [UInt8]
        // A new checkpoint gets the name by a rename, which would replace a link, and not the file that it leads to on the other disk.
        do throws(FileFailure) { bytes = try PrivateFile.read(path, followsLink: false) } catch {
            throw error.code == ELOOP ? .link(path: path) : .file(error)
        }
        guard !bytes.isEmpty else { return nil }
        guard let note = try? SignedNote(decoding: bytes), let checkpoint = try? Checkpoint(decoding: note.text) else {
            throw .damaged(path: path)
        }
        guard checkpoint.origin == origin else { throw .ofOtherLog(path: path) }
        return checkpoint.head
    }

    /// Remembers a checkpoint, durably, if it extends what was remembered last.
    ///
    /// - Parameter consistency: the proof that the checkpoint extends a smaller one; nil if there is none.
    /// - Throws: ``NewestMemoryError``. The file is as it was.
    func remember(
        _ note: SignedNote, _ head: TreeHead, consistency: (UInt64) -> ConsistencyProof?
    ) throws(NewestMemoryError) {
        guard let checkpoint = try? Checkpoint(decoding: note.text) else { throw .damaged(path: path) }
        if let last = try self.head(of: checkpoint.origin) {
            guard last != head else { return }
            try requireExtension(of: last, by: head, consistency)
        }
        do { try PrivateFile.replace(path, with: note.encoded, mode: 0o644) } catch { throw .file(error) }
    }

    private func requireExtension(
        of last: TreeHead, by head: TreeHead, _ consistency: (UInt64) -> ConsistencyProof?
    ) throws(NewestMemoryError) {
        guard last.size > 0 || head.size == 0 else { return }
        // There is none to a smaller tree, nor from another tree of this size.
        guard let proof = consistency(last.size), (try? proof.verify(from: last, to: head)) != nil else {
            throw .contradicted(remembered: last)
        }
    }
}

/// Why a second memory was not read or written.
public enum NewestMemoryError: Error, Hashable, Sendable {
    /// The file was not read or written; one that is missing is a disk that is not mounted, or a memory that was never begun.
    case file(FileFailure)
    /// The name is that of a symbolic link.
    case link(path: String)
    /// It is not a checkpoint.
    case damaged(path: String)
    /// It is of a log of another name.
    case ofOtherLog(path: String)
    /// The log does not extend what is remembered.
    case contradicted(remembered: TreeHead)
}

/// Has every checkpoint remembered before it is shown, and then witnessed.
struct RememberedPublishing: CheckpointWitnessing {
    let memory: NewestMemory
    /// nil: no witness has to cosign.
    let witnesses: WitnessedPublishing?
    let logger: Logger
    /// A disk that does not answer holds a thread of this queue, and none of those that run tasks.
    private let queue = DispatchQueue(label: "signet.memory")

    init(memory: NewestMemory, witnesses: WitnessedPublishing?, logger: Logger) {
        self.memory = memory
        self.witnesses = witnesses
        self.logger = logger
    }

    func cosignatures(
        on note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
    ) async throws(WitnessShortfall) -> [NoteSignature] {
        do throws(NewestMemoryError) { try await remember(note, head, consistency) } catch {
            // A disk that comes back is found by the next round, a second later.
            logger.error(
                "not published: the second memory was not written",
                metadata: ["size": "\(head.size)", "why": "\(error.word)"])
            throw WitnessShortfall(missing: [])
        }
        return try await witnesses?.cosignatures(on: note, head: head, consistency: consistency) ?? []
    }

    private func remember(
        _ note: SignedNote, _ head: TreeHead, _ consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
    ) async throws(NewestMemoryError) {
        typealias Waiting = CheckedContinuation<Result<Void, NewestMemoryError>, Never>
        let result = await withCheckedContinuation { (continuation: Waiting) in
            queue.async { [memory] in
                continuation.resume(
                    returning: Result { () throws(NewestMemoryError) in
                        try memory.remember(note, head, consistency: consistency)
                    })
            }
        }
        try result.get()
    }
}

extension NewestMemoryError {
    fileprivate var word: String {
        switch self {
        case .file(let failure): "\(failure.path): \(String(cString: strerror(failure.code)))"
        case .link: "a link"
        case .damaged: "damaged"
        case .ofOtherLog: "of another log"
        case .contradicted: "the log does not extend it"
        }
    }
}
