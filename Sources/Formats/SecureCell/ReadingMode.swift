// SPDX-License-Identifier: Apache-2.0

/// How much of what the Themis library itself accepts is accepted here.
///
/// Themis prints one form and reads many: bytes that nothing authenticates may stand inside a cell and after a
/// signature. Two readings let an app take its old records without taking forged ones as new.
public enum ReadingMode: Sendable, Hashable, CaseIterable {
    /// Exactly the forms that Themis 0.15 prints. The one to use.
    case strict
    /// What Themis 0.15 reads, for old records: unauthenticated bytes within and after, AES-128 and AES-192, any salt.
    /// Unknown message types stay refused, and the work that a record may ask for stays bounded.
    case compatible

    /// The PBKDF2 iteration counts that are computed.
    ///
    /// Security: Themis takes any count from 1 to 2³²−1, so that a hostile record weakens the passphrase or stops
    /// a core for minutes. Both readings refuse more than 5,000,000 before computing anything.
    public var iterationBounds: ClosedRange<UInt32> {
        switch self {
        case .strict: 100_000...5_000_000
        case .compatible: 1...5_000_000
        }
    }
}
