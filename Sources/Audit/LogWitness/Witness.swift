// SPDX-License-Identifier: Apache-2.0

public import Logging
import Synchronization
public import TransparencyLog

/// A witness: cosigns what its logs publish as long as each only grows, and never two histories of one log.
///
/// Spec: C2SP tlog-witness v1.0.0.
public final class Witness: Sendable {
    /// Where a witness reads the time.
    public struct Clock: Sendable {
        let time: @Sendable () -> UInt64
        let uptime: @Sendable () -> UInt64

        /// Clocks.
        ///
        /// - Parameters:
        ///   - time: seconds since 1970.
        ///   - uptime: nanoseconds that never go back.
        public init(time: @escaping @Sendable () -> UInt64, uptime: @escaping @Sendable () -> UInt64) {
            self.time = time
            self.uptime = uptime
        }
    }

    private let rules: WitnessRules
    private let store: WitnessStore
    private let clock: Clock
    private let quotas: LogQuotas
    private let logger: Logger
    private let progress = Mutex<[[UInt8]: (size: UInt64, time: UInt64)]>([:])

    /// Makes the empty memory of a new witness at `path`.
    ///
    /// - Throws: ``WitnessStoreError``.
    public static func create(memory path: String, for key: VerifierKey) throws(WitnessStoreError) {
        try WitnessStore.create(at: path, for: key)
    }

    /// The witness with these rules and the memory at `path`.
    ///
    /// - Parameter logger: learns of logs that contradict themselves; it is given origins and sizes.
    /// - Throws: ``WitnessStoreError``: the operator has to act.
    public init(_ rules: WitnessRules, memory path: String, clock: Clock, logger: Logger) throws(WitnessStoreError) {
        store = try WitnessStore(at: path, for: rules.signer.verifierKey)
        self.rules = rules
        self.clock = clock
        self.logger = logger
        quotas = LogQuotas(rules.logs)
    }

    /// Its public key, by which its memory knows it.
    public var verifierKey: VerifierKey { rules.signer.verifierKey }

    /// Answers a request to cosign: what it returns is on the disk before.
    ///
    /// - Parameter body: of an `add-checkpoint` request.
    /// - Returns: the body of a 200: a line of each key.
    /// - Throws: ``WitnessError``.
    public func cosign(_ body: [UInt8]) async throws(WitnessError) -> [UInt8] {
        let request: AddCheckpointRequest
        do { request = try AddCheckpointRequest(received: body) } catch { throw .refused(error) }
        guard rules.logs.keys(ofOrigin: request.checkpoint.origin) != nil else { throw .refused(.unknownOrigin) }
        // A request that lost a race is judged again by the one that won. Growth is judged in this way at most twice.
        for _ in 0..<4 {
            let cosigned = try judge(request, latest: try await latest(request.checkpoint.origin))
            if try await replace(cosigned) {
                note(cosigned)
                return WitnessAnswer.body(of: cosigned.cosignatures)
            }
        }
        throw .busy
    }

    /// The latest checkpoint cosigned for a log, with the log's lines and this witness's; nil for none.
    ///
    /// - Parameter originHash: the SHA-256 of the log's origin, 32 bytes.
    /// - Throws: ``WitnessError/busy``, ``WitnessError/memoryFailed(_:)``.
    public func checkpoint(originHash: [UInt8]) async throws(WitnessError) -> [UInt8]? {
        do { return try await store.note(ofOriginHash: originHash) } catch { throw WitnessError(error) }
    }

    /// What this witness cosigned last for a log.
    public struct Cosigned: Hashable, Sendable {
        /// The log's origin.
        public let origin: [UInt8]
        /// The size of the log.
        public let size: UInt64
        /// When, by this witness's clock, in seconds since 1970.
        public let time: UInt64
    }

    /// What it cosigned last since it was opened, in the order of the logs' origins: of the first thousand logs that asked.
    public var cosigned: [Cosigned] {
        progress.withLock { $0 }.map { Cosigned(origin: $0, size: $1.size, time: $1.time) }
            .sorted { $0.origin.lexicographicallyPrecedes($1.origin) }
    }

    private static let maximumNotedCount = 1000

    /// Of two requests that overlap, the smaller checkpoint may be noted later.
    private func note(_ checkpoint: CosignedCheckpoint) {
        let now = clock.time()
        progress.withLock { progress in
            let known = progress[checkpoint.origin]
            guard known != nil || progress.count < Self.maximumNotedCount else { return }
            progress[checkpoint.origin] = (max(known?.size ?? 0, checkpoint.head.size), max(known?.time ?? 0, now))
        }
    }

    /// Closes the memory. The witness is of no more use.
    public func close() { store.close() }

    private func judge(
        _ request: AddCheckpointRequest, latest: TreeHead?
    ) throws(WitnessError) -> CosignedCheckpoint {
        let cosigned: CosignedCheckpoint
        do { cosigned = try rules.judge(request, latest: latest, at: clock.time()) } catch {
            report(error, request, latest)
            throw .refused(error)
        }
        // Anyone can send the latest checkpoint again; only growth is certain to come from the log.
        if cosigned.head != latest, let wait = quotas.take(of: cosigned.origin, at: clock.uptime()) {
            throw .tooManyRequests(nanoseconds: wait)
        }
        return cosigned
    }

    private func latest(_ origin: [UInt8]) async throws(WitnessError) -> TreeHead? {
        do { return try await store.latest(origin) } catch { throw WitnessError(error) }
    }

    private func replace(_ checkpoint: CosignedCheckpoint) async throws(WitnessError) -> Bool {
        do { return try await store.replace(with: checkpoint) } catch { throw WitnessError(error) }
    }

    /// Two signed roots of one size are a fork beyond doubt; anything else may be a wrong proof.
    private func report(_ refusal: WitnessRefusal, _ request: AddCheckpointRequest, _ latest: TreeHead?) {
        guard case .inconsistent = refusal, let latest, latest.size == request.checkpoint.head.size,
            latest.root != request.checkpoint.head.root
        else { return }
        logger.critical(
            "a log has signed two histories",
            metadata: [
                "origin": "\(String(decoding: request.checkpoint.origin, as: UTF8.self))", "size": "\(latest.size)",
            ])
    }
}

/// Why a witness did not answer with a cosignature.
public enum WitnessError: Error, Hashable, Sendable {
    /// The request is refused for good, or must be made otherwise.
    case refused(WitnessRefusal)
    /// The log asks more often than it may; it can come again after this time.
    case tooManyRequests(nanoseconds: UInt64)
    /// Nothing was changed; try again.
    case busy
    /// The witness's database failed: the process has to end. What it cosigned before is on the disk.
    case memoryFailed(WitnessStoreError)

    init(_ error: WitnessStoreError) {
        if case .busy = error { self = .busy } else { self = .memoryFailed(error) }
    }
}
