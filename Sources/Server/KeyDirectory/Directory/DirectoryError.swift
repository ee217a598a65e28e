// SPDX-License-Identifier: Apache-2.0

public import SignetAPI

/// Why the directory did not do what was asked.
public enum DirectoryError: Error, Hashable, Sendable {
    /// The peer's fault; the code is the answer. No retry helps unless ``ErrorCode`` says so.
    case refused(ErrorCode)
    /// The log or the database failed for good: the process must end, and start again from what is durable.
    case stopped
    /// The database could not do it now. A retry may help.
    case database
}
