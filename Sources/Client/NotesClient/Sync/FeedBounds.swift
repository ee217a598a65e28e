// SPDX-License-Identifier: Apache-2.0

/// How much a device reads of a feed at a time, and how much it keeps of what it does not believe: the server of the
/// feed decides neither. What is believed was signed by people and has no bound here.
package struct FeedBounds: Sendable {
    /// What people's devices have.
    package static let standard = FeedBounds()

    /// Bytes that each record counts beside its own, for what the store keeps of it.
    static let recordByteCount = 256

    /// Pages of one pull. The next one goes on where it ended.
    package var pages = 4096
    /// Bytes that come before they are judged.
    package var unjudgedBytes = 256 << 20
    /// Bytes of one note that are not believed.
    package var noteBytes = 8 << 20
    /// The same of the one note of which all has to be here, for a step that names everything or a change that is put behind everything:
    /// as much as one account may store.
    package var sparedBytes = 1 << 30
    /// Bytes of all notes that are not believed.
    package var bytes = 64 << 20
    /// Bytes that were set aside because they can never hold.
    package var refutedBytes = 16 << 20
    /// People who are looked up in one sync, and whom neither the user nor anything that is believed knows.
    package var people = 4096
    /// Heads of the account that are read at a time.
    package var heads = 1 << 17
}
