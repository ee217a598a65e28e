// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension Date {
    /// The date of a time in seconds, as the protocols count it.
    ///
    /// - Parameter seconds: since 1970-01-01T00:00:00Z.
    package init(seconds: UInt64) { self.init(timeIntervalSince1970: Double(seconds)) }

    /// Whole seconds since 1970-01-01T00:00:00Z; 0 for an earlier date, and `UInt64.max` for a date that is too late to
    /// count.
    package var seconds: UInt64 { UInt64(exactly: max(0, timeIntervalSince1970).rounded(.down)) ?? .max }
}
