// SPDX-License-Identifier: Apache-2.0

/// Who has to act on an error.
public enum ErrorFamily: Hashable, Sendable, CaseIterable {
    /// The directory, or an attacker on the path, did what no honest one does. Never retried.
    case peer
    /// The request cannot succeed as it was made and has to be corrected.
    case caller
    /// Network, disk, memory or clock. This is the only family worth a retry.
    case environment
    /// A bug in Signet.
    case bug
}
