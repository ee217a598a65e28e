// SPDX-License-Identifier: Apache-2.0

import PinnedHTTP
import SignetClient
public import TransparencyLog

/// An auditor as a witness of the policy: cosigns what it has audited, and nothing else.
///
/// A log asks before it publishes, so it must serve the entries of the checkpoint that it asks about. They are fetched
/// and audited then and there; an auditor that only looked at what is published could never be part of a quorum.
///
/// Spec: C2SP tlog-witness v1.0.0, "add-checkpoint"; tlog-cosignature, "Additional statements": the key cosigns
/// nothing but audited checkpoints.
public actor AuditCosigner {
    /// How many requests may wait for an audit at a time.
    private static let maximumWaiting = 8

    private let auditor: Auditor
    private let rules: WitnessRules
    private let memory: DurableFile
    private let clock: @Sendable () -> UInt64
    private let turns = Turns()
    private var waiting = 0
    private var latest: TreeHead?

    /// A cosigner behind an auditor.
    ///
    /// - Parameter clock: seconds since 1970.
    /// - Throws: ``AuditorKeyError``.
    public init(
        _ auditor: Auditor, of policy: Policy, key: AuditorKey, clock: @escaping @Sendable () -> UInt64
    ) throws(AuditorKeyError) {
        let logs = policy.logs.map { WitnessedLogs.Entry(key: $0) }
        guard let witnessed = try? WitnessedLogs(logs) else { throw .memoryOfAnotherLog }
        self.auditor = auditor
        self.clock = clock
        rules = WitnessRules(logs: witnessed, signer: key.signer)
        memory = key.memory
        latest = try key.lastCosigned(of: policy)
    }

    /// Answers an `add-checkpoint` request. A cosignature that is returned is on the disk before.
    public func answer(_ body: [UInt8]) async -> CosignerAnswer {
        guard waiting < Self.maximumWaiting else { return .unavailable }
        waiting += 1
        defer { waiting -= 1 }
        await turns.take()
        defer { turns.give() }
        do throws(WitnessRefusal) { return try await judge(AddCheckpointRequest(received: body)) } catch {
            return CosignerAnswer(error)
        }
    }

    private func judge(_ request: AddCheckpointRequest) async throws(WitnessRefusal) -> CosignerAnswer {
        // A checkpoint that a witness refuses is not worth an audit.
        _ = try rules.judge(request, latest: latest, at: clock())
        if await !auditor.isSound(request.checkpoint.head) {
            do { _ = try await auditor.audit(request.note) } catch { return CosignerAnswer(error) }
        }
        // The audit took its time: the cosignature carries the time after it.
        let cosigned = try rules.judge(request, latest: latest, at: clock())
        guard await auditor.isSound(cosigned.head) else { return .unavailable }
        do { try memory.replace(with: cosigned.note.encoded) } catch { return .unavailable }
        latest = cosigned.head
        return CosignerAnswer(status: 200, body: WitnessAnswer.body(of: cosigned.cosignatures))
    }
}

/// What a cosigner answers.
public struct CosignerAnswer: Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// The media type of the body.
    public let mediaType: String
    /// The body.
    public let body: [UInt8]

    package init(status: Int, mediaType: String = "text/plain; charset=utf-8", body: [UInt8]) {
        self.status = status
        self.mediaType = mediaType
        self.body = body
    }

    init(_ refusal: WitnessRefusal) {
        self.init(status: refusal.status, mediaType: refusal.mediaType, body: refusal.body)
    }

    /// tlog-witness has no status for "I looked, and it is wrong"; what is said to people is in the body.
    init(_ error: AuditorError) {
        switch error {
        case .guilty, .evidenceNotKept: self.init(status: 503, body: Array("the log broke its rules\n".utf8))
        case .epochTime: self.init(status: 503, body: Array("the log's last epoch is not of now\n".utf8))
        default:
            let isTransient = error.family == .environment
            self.init(
                status: 503, body: Array((isTransient ? "not audited yet\n" : "the audit failed\n").utf8))
        }
    }

    static let unavailable = CosignerAnswer(status: 503, body: Array("busy\n".utf8))
}
