/// Who has to act on an error.
public enum ErrorFamily: Hashable, Sendable, CaseIterable {
    /// The directory, or somebody in between, did what no honest one does. Never retried.
    case peer
    /// The request cannot succeed as it was made: correct it.
    case caller
    /// Network, disk, memory or clock. The only family worth a retry.
    case environment
    /// A mistake in Signet.
    case bug
}
