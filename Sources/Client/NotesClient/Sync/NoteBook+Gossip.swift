// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
import SignetClient

/// The key of a shared note comes with the sealed checkpoint that the sharer had seen, so that a note alone exposes a
/// directory that shows two people two logs.
extension NoteBook {
    /// This device's newest checkpoint; empty if there is none or the store cannot be read, so that sharing still
    /// works.
    func ownCheckpoint() async -> [UInt8] { ((try? await client.card()) ?? nil)?.encoded ?? [] }

    /// Compares the checkpoints that came with the keys of notes. Each is compared once in the lifetime of this book.
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
