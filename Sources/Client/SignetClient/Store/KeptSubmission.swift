// SPDX-License-Identifier: Apache-2.0

/// A state of the user's own account that this device brought and the log has shown since, as the directory takes it again after it has lost it:
/// the body and the signature of a request, byte for byte.
///
/// Security: none of it is secret from the directory, and all but the cards is in the directory's answers about the account. The signature is
/// for the route of registrations of this directory alone, where the same state again changes nothing. Whoever steals the store learns the
/// account's former states, with keys of devices that were removed since.
public struct KeptSubmission: Hashable, Sendable {
    /// So many are kept: the newest. The directory takes 128 changes of an account in a day at most, and more than a few in the time between two
    /// copies of its database are rare; each is two to five thousand bytes.
    public static let maximumCount = 32

    /// The state's version.
    public let version: UInt64
    /// Index of the state record in the log.
    public let index: UInt64
    /// A `StateSubmission`.
    public let submission: [UInt8]
    /// The value of the header `Signet-Signature`, made before the submission was first sent.
    public let signature: [UInt8]

    /// A submission that the log has shown.
    public init(version: UInt64, index: UInt64, submission: [UInt8], signature: [UInt8]) {
        self.version = version
        self.index = index
        self.submission = submission
        self.signature = signature
    }
}
