public import PinnedHTTP

/// Why the client's memory of the world could not be read or written.
public enum StoreError: Error, Hashable, Sendable {
    /// The file cannot be opened or made.
    case file(FileFault)
    /// Another process has it for too long.
    case busy
    /// The disk is full.
    case noSpace
    /// The file may not be written.
    case readOnly
    /// The file is not what this program wrote: another program's, cut short, or changed.
    case damaged
    /// A later version of this program wrote it; this number is that version's.
    case newerVersion(Int)
    /// Reading or writing failed; SQLite's extended result code.
    case failed(Int32)

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .file(let fault): fault.family
        case .busy, .noSpace, .readOnly, .failed: .environment
        case .damaged, .newerVersion: .caller
        }
    }
}
