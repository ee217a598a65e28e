// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// How much a log accepts at a time.
public struct LogLimits: Hashable, Sendable {
    /// How many entries may wait for a group commit before ``LogAppendError/queueFull(waiting:)``.
    public var queuedEntries = 32_768
    /// How many bytes of entries may wait.
    public var queuedByteCount = 32 << 20
    /// The longest group, in bytes, each entry with 2 more: less than 8 MiB, so that it fits into one frame.
    public var groupByteCount = 4 << 20

    /// How many waiting entries are a full batch, which does not wait for ``LogConfiguration/frameInterval``.
    public var batchEntries = 4_096

    /// The limits that suit a server.
    public init() {}
}

/// What a log needs besides its data directory.
public struct LogConfiguration: Sendable {
    /// The log's key, of algorithm ``TransparencyLog/VerifierKey/Algorithm/ed25519``. Its name is the origin.
    public var signer: NoteSigner
    /// Keys that cosign each checkpoint here, of algorithm ``TransparencyLog/VerifierKey/Algorithm/cosignatureV1``.
    public var cosigners: [NoteSigner]
    /// The time of cosignatures, in seconds since 1970.
    public var clock: @Sendable () -> UInt64
    /// How much is accepted at a time.
    public var limits = LogLimits()
    /// Called once, on a thread of the log, when the log has failed for good. The process must end: the log has to be
    /// opened again before anything more is written.
    public var onFatal: @Sendable (LogFailure) -> Void = { _ in }
    /// Called on a thread of the log after each publication, in order. Must be short.
    public var onPublished: @Sendable (PublishedCheckpoint) -> Void = { _ in }
    /// The witnesses that must cosign a checkpoint before it is published; nil for none.
    public var witnessing: (any CheckpointWitnessing)?
    /// The least time between two frames, unless a full batch waits: what bounds the number of epochs. A log that was
    /// idle for as long commits at once.
    public var frameInterval = Duration.zero
    /// What ends every frame; nil for a log whose frames end in what was appended.
    package var sealing: (any LogSealing)?
    var walSizes = WriteAheadLog.Sizes()

    /// A configuration with the usual limits.
    public init(signer: NoteSigner, cosigners: [NoteSigner] = [], clock: @escaping @Sendable () -> UInt64) {
        self.signer = signer
        self.cosigners = cosigners
        self.clock = clock
    }

    /// For tests: how large segments grow, and in what pieces they are filled with zeros, in bytes.
    package mutating func setSegmentSizes(segment: UInt64, preallocated: UInt64) {
        walSizes = WriteAheadLog.Sizes(segmentByteCount: segment, preallocatedByteCount: preallocated)
    }

    /// Signs a head.
    ///
    /// - Throws: ``LogSigningError``.
    package func sign(_ head: TreeHead) throws(LogSigningError) -> PublishedCheckpoint { try keys.sign(head) }

    var keys: CheckpointKeys { CheckpointKeys(log: signer, cosigners: cosigners, clock: clock) }
}
