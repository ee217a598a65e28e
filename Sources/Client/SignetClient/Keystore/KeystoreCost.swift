// SPDX-License-Identifier: Apache-2.0

/// How much work one guess at the passphrase costs: the parameters of Argon2id with one lane.
///
/// Spec: RFC 9106, section 3.1 (t, m) and section 4 (choice of parameters).
public struct KeystoreCost: Hashable, Sendable {
    /// Passes over the memory.
    public let passes: UInt32
    /// Memory in KiB.
    public let memory: UInt32

    /// A cost; the keystore accepts those between ``minimum`` and ``maximum``.
    public init(passes: UInt32, memory: UInt32) {
        self.passes = passes
        self.memory = memory
    }

    /// The cost of new keystores: three passes over 128 MiB.
    public static let standard = KeystoreCost(passes: 3, memory: 131_072)
    /// Headers with a lower cost are refused: two passes over 19 MiB.
    public static let minimum = KeystoreCost(passes: 2, memory: 19_456)
    /// Headers with a higher cost are refused before memory is allocated: sixteen passes over 1 GiB.
    public static let maximum = KeystoreCost(passes: 16, memory: 1_048_576)

    package func check() throws(KeystoreError) {
        guard passes >= Self.minimum.passes, memory >= Self.minimum.memory else { throw .costTooLow(self) }
        guard passes <= Self.maximum.passes, memory <= Self.maximum.memory else { throw .costTooHigh(self) }
    }
}
