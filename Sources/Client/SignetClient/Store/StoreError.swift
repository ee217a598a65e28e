// SPDX-License-Identifier: Apache-2.0

public import PinnedHTTP

/// Why the client's store could not be read or written.
public enum StoreError: Error, Hashable, Sendable {
    /// The file cannot be opened or made.
    case file(FileFault)
    /// Another process has held the file for too long.
    case busy
    /// The disk is full.
    case noSpace
    /// The file is not writable.
    case readOnly
    /// The file is not one that this program wrote: it is another program's, truncated, or changed.
    case damaged
    /// A later version of this program wrote the file; this is that version's number.
    case newerVersion(Int)
    /// Reading or writing failed, with SQLite's extended result code.
    case failed(Int32)

    /// The error family, which says who is at fault.
    public var family: ErrorFamily {
        switch self {
        case .file(let fault): fault.family
        case .busy, .noSpace, .readOnly, .failed: .environment
        case .damaged, .newerVersion: .caller
        }
    }
}
