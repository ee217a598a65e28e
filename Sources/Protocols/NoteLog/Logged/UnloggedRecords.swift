// SPDX-License-Identifier: Apache-2.0

import KeyTransparency

/// What a device has of a note and the log did not say yet: by hash, and at which root's time that was seen first. By the times of
/// the roots, so that it is the server's own word how long it has had.
public struct UnloggedRecords: Hashable, Sendable {
    /// Seconds since 1970, by record.
    public let since: [RecordHash: UInt64]

    /// What was remembered.
    public init(since: [RecordHash: UInt64] = [:]) { self.since = since }

    /// What is to be remembered after a comparison with the root of a time.
    public func updated(_ missing: Set<RecordHash>, at time: UInt64) -> UnloggedRecords {
        UnloggedRecords(since: Dictionary(uniqueKeysWithValues: missing.map { ($0, min(since[$0] ?? time, time)) }))
    }

    /// For how many seconds the log has not said something, if that is longer than a server may take: an hour.
    public func overdue(at time: UInt64) -> UInt64? {
        guard let first = since.values.min(), time > first else { return nil }
        return time - first > EpochTimeRule.standard.maximumLag ? time - first : nil
    }
}
