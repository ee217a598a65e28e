// SPDX-License-Identifier: Apache-2.0

/// The steps of a handover, in their order. Each is on the disk before the next begins, and doing one again changes
/// nothing: so the same command again goes on after any of them.
package enum HandoverStep: Hashable, Sendable, CaseIterable {
    /// The successor's folder is made, with new keys and an empty log.
    case drafted
    /// It has the pins of the old directory.
    case pinned
    /// The old log has its last record, cosigned.
    case ended
    /// The successor has every account.
    case handedOver
    /// It has the notes and the secrets of logins.
    case notes
    /// It has what guardians, owners and new devices left for each other.
    case recovery
    /// It has the calls and the inboxes.
    case signals
    /// It has its name.
    case named
}

/// Why a handover was not begun, or did not go on. Doing the same again goes on.
public enum HandoverError: Error, Hashable, Sendable {
    /// A folder cannot be written to: the old directory, or the one in which the new one is to be.
    case notWritable(FileFailure)
    /// The disk of the new directory has too little room, in bytes.
    case tooLittleSpace(needed: UInt64, free: UInt64)
    /// Another program has a database of the old directory open.
    case inUse(path: String)
    /// This file or folder of the old directory cannot be read, or not even asked for.
    case unreadable(FileFailure)
    /// The letters of guardians cannot be read.
    case recovery
    /// The calls and inboxes cannot be read.
    case signals(code: Int32)
}
