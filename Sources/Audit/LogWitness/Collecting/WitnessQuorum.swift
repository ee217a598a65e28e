// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOSSL
public import TransparencyLog

/// The witnesses of a log, as the log asks them: all at once, until enough have cosigned.
///
/// It remembers for each what size it knows, and finds that out again after a new start: nothing of it has to be kept.
///
/// Spec: C2SP tlog-witness v1.0.0, "add-checkpoint"; tlog-policy, "Defining the quorum".
public final class WitnessQuorum: Sendable {
    /// How a log asks.
    public struct Configuration: Sendable {
        /// How long a round may take, 409 and the second try included.
        public var timeout = Duration.seconds(5)
        /// How far a witness's clock may be from ours, in seconds.
        public var tolerance: UInt64 = 120
        /// Root certificates to trust beside the system's, PEM, as many as there are in the bytes.
        public var additionalRoots: [UInt8] = []

        /// Five seconds, two minutes, and the system's roots.
        public init() {}
    }

    /// Whose cosignatures are needed.
    public let policy: Policy
    private let lanes: [Policy.Name: WitnessLane]
    private let configuration: Configuration
    private let clock: @Sendable () -> UInt64

    /// The witnesses that a policy names with an address.
    ///
    /// - Parameter clock: seconds since 1970.
    /// - Throws: ``WitnessRootsError``: the additional roots are not certificates, or a witness has an https address and the system has none.
    public init(
        _ policy: Policy, configuration: Configuration = Configuration(), clock: @escaping @Sendable () -> UInt64
    ) throws(WitnessRootsError) {
        self.policy = policy
        self.configuration = configuration
        self.clock = clock
        let tls = try Self.context(for: policy, configuration.additionalRoots)
        var lanes: [Policy.Name: WitnessLane] = [:]
        for witness in policy.witnesses {
            guard let address = witness.url.flatMap(WitnessAddress.init) else { continue }
            lanes[witness.name] = WitnessLane(witness, connection: WitnessConnection(to: address, tls: tls))
        }
        self.lanes = lanes
    }

    /// Closes the kept connections; requests under way end by themselves.
    public func close() { for lane in lanes.values { lane.close() } }

    /// Has a checkpoint cosigned: returns when the quorum is met, when every witness has answered, or when the time is
    /// up. Witnesses whose cosignature is on the note already are not asked: a round that failed can be made again with
    /// what it brought.
    ///
    /// Rounds may overlap; a witness that has cosigned the later one is ``WitnessOutcome/ahead(size:)`` of the earlier.
    ///
    /// - Parameters:
    ///   - note: the checkpoint, signed by the log.
    ///   - head: its size and root.
    ///   - consistency: the proof from an earlier size of the same log; nil if it cannot be given.
    public func cosign(
        _ note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
    ) async -> WitnessRoundReport {
        let question = WitnessQuestion(
            note: note, head: head, deadline: .now() + TimeAmount(configuration.timeout), now: clock(),
            tolerance: configuration.tolerance, consistency: consistency)
        var tally = WitnessTally(policy, note)
        let (answers, report) = AsyncStream.makeStream(of: WitnessTally.Answer.self)
        for name in tally.missing {
            guard let lane = lanes[name] else {
                tally.take((name, .notAddressed, nil))
                continue
            }
            // Not a child of this task: a late witness may still receive and keep what we send.
            Task.detached {
                let (outcome, line) = await lane.cosign(question)
                report.yield((name, outcome, line))
            }
        }
        if !tally.isDecided {
            for await answer in answers {
                tally.take(answer)
                if tally.isDecided { break }
            }
        }
        return tally.round
    }

    /// The roots are looked at in any case, the system's only where a witness has an https address.
    ///
    /// - Parameter make: NIOSSL's initialiser, which reads the system's root certificates.
    /// - Returns: nil: no witness has an https address.
    static func context(
        for policy: Policy, _ roots: [UInt8],
        make: (TLSConfiguration) throws -> NIOSSLContext = { try NIOSSLContext(configuration: $0) }
    ) throws(WitnessRootsError) -> NIOSSLContext? {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        if !roots.isEmpty {
            guard let certificates = try? NIOSSLCertificate.fromPEMBytes(roots), !certificates.isEmpty else {
                throw .malformed
            }
            configuration.additionalTrustRoots = [.certificates(certificates)]
        }
        let addresses = policy.witnesses.compactMap { $0.url.flatMap(WitnessAddress.init) }
        guard addresses.contains(where: \.isSecure) else { return nil }
        do { return try make(configuration) } catch { throw .systemHasNone }
    }
}

/// Why the roots for connections to witnesses cannot be used.
public enum WitnessRootsError: Error, Hashable, Sendable {
    /// The additional ones are not PEM certificates. The operator has to correct the file.
    case malformed
    /// A witness has an https address, and the system has none. The operator has to install them.
    case systemHasNone
}
