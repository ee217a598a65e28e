// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
import SignetClient

/// With the key of a shared note comes, sealed, the checkpoint that the sharer had seen: so a directory that shows two people two
/// logs is found out by a note alone.
extension NoteBook {
    /// This device's newest checkpoint; empty when there is none, or its store cannot be read: sharing goes on.
    func ownCheckpoint() async -> [UInt8] { ((try? await client.card()) ?? nil)?.encoded ?? [] }

    /// Compares the checkpoints that came with the keys of notes; each once in the life of this book.
    ///
    /// - Returns: the result for each sender; the worst one, if a sender sent several.
    func meetCheckpoints(in notes: Set<NoteID>) async throws(NotesError) -> [Handle: MetCheckpoint] {
        var met: [Handle: MetCheckpoint] = [:]
        for note in notes.sorted() {
            guard let control = held[note]?.readable else { continue }
            for wrap in try file(of: note).wraps where wrap.header.form != .key {
                let opened = try? NoteKey.openAll(wrap, with: device, control: control, authors: KnownAuthors([]))
                guard let checkpoint = opened?.checkpoint, !checkpoint.isEmpty,
                    metCheckpoints.insert(checkpoint).inserted
                else { continue }
                let found: MetCheckpoint
                do { found = try await client.meet(checkpoint) } catch { throw .client(error) }
                let sender = wrap.header.sender.handle
                if met[sender].map({ $0.isWorse(than: found) }) != true { met[sender] = found }
            }
        }
        return met
    }
}

extension MetCheckpoint {
    fileprivate func isWorse(than other: MetCheckpoint) -> Bool {
        switch (self, other) {
        case (.fork, _): true
        case (_, .fork): false
        case (.noProof, _): true
        default: false
        }
    }
}
