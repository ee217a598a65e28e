// SPDX-License-Identifier: Apache-2.0

/// How much of a log an auditor reads, so that an endless log does not keep anyone from getting an answer.
public struct AuditLimits: Hashable, Sendable {
    /// An audit pauses behind so many bytes of entries; the next one goes on there.
    public var stepByteCount: UInt64 = 1 << 30

    /// The limits that `signet audit` starts with.
    public init() {}
}
