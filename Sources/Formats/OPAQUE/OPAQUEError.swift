// SPDX-License-Identifier: Apache-2.0

/// Why a registration or a login did not go on. A retry helps only where said.
public enum OPAQUEError: Error, Hashable, Sendable {
    /// The peer's message has another length, or a part of it is not an element of the group.
    case malformed
    /// The envelope does not open: wrong password, no such account, or another server than the one registered with.
    /// Which one cannot be told, and that is the point. A retry helps with the right password.
    case notOpened
    /// The envelope opened, but the server does not hold the key that the account was registered with.
    case serverNotAuthentic
    /// The client does not know the password, or what it sent belongs to another login.
    case clientNotAuthentic
    /// The password has no bytes, or more than 65,535. The caller's mistake.
    case invalidPassword
    /// An identity is empty or longer than 65,535 bytes, or the context is longer. The caller's mistake.
    case invalidParameters
    /// Key stretching found no memory. A retry may help later.
    case outOfMemory
    /// libsodium did not start, or an operation failed that no input can make fail.
    case unavailable
}
