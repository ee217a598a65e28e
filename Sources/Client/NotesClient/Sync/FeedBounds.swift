// SPDX-License-Identifier: Apache-2.0

/// How much a device reads of a feed at a time, and how many unbelieved records it keeps, so that the server decides
/// neither. Believed records were signed by people, and have no bound here.
package struct FeedBounds: Sendable {
    /// The bounds of people's devices.
    package static let standard = FeedBounds()

    /// Bytes that are added to each record's own, for what the store keeps with it.
    static let recordByteCount = 256

    /// Pages of one pull. The next pull continues where it ended.
    package var pages = 4096
    /// Bytes that are fetched before they are judged.
    package var unjudgedBytes = 256 << 20
    /// Bytes of unbelieved records of one note.
    package var noteBytes = 8 << 20
    /// The same for the one note that keeps all its records, for a step that names every record or a change that
    /// follows them all: as much as one account may store.
    package var sparedBytes = 1 << 30
    /// Bytes of unbelieved records of all notes.
    package var bytes = 64 << 20
    /// Bytes that were set aside because they can never hold.
    package var refutedBytes = 16 << 20
    /// People who are looked up in one sync, although the user does not know them and no believed record names them.
    package var people = 4096
    /// Heads of the account that are read at a time.
    package var heads = 1 << 17
}
