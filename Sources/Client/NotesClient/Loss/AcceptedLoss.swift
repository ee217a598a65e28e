// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog

/// What a device did about the notes of which the server had lost something.
public struct AcceptedLoss: Hashable, Sendable {
    /// The server had an earlier text: this device's text follows it as a change.
    public internal(set) var rewritten: Set<NoteID> = []
    /// The server does not have the note, or not for this account: the new note of the user's own that has its text, by the lost one.
    public internal(set) var remade: [NoteID: NoteID] = [:]
    /// Somebody changed the earlier text meanwhile: the note that keeps this device's text, by the one with the other text.
    public internal(set) var copies: [NoteID: NoteID] = [:]
    /// The server had the note as it was before the user deleted it, left it or gave it away: that was done again.
    public internal(set) var ended: Set<NoteID> = []
    /// The server had people as members whom the user had removed: they were removed again before anything was written.
    public internal(set) var removed: [NoteID: Set<Handle>] = [:]
    /// People who had the note, and do not have it now. Only the user shares it again.
    public internal(set) var unshared: [NoteID: [Handle: NoteRole]] = [:]
    /// Names of files, UTF-8, that a note had and that the server may not have, by the note that they are to be attached to: of a note that
    /// was made again, the new one.
    public internal(set) var files: [NoteID: [[UInt8]]] = [:]
    /// How many notes were closed on this device, so that nothing of them could be brought again.
    public internal(set) var closedCount = 0
}
