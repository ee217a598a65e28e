// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
public import LogEngine
public import LogWitness
import Logging
import Platform
public import TransparencyLog

/// Keeps a server whose data went back from signing a second tree of a size that clients have seen.
///
/// Before anything is written or signed, the witnesses of the clients' policy are asked what they cosigned last, and so is the second
/// memory if there is one. A server that is behind any of them does not start.
///
/// Security: without witnesses at addresses and without a second memory, an older copy cannot be recognised as old. A
/// witness that is not reached says nothing either; see ``Rule``.
public struct RollbackGuard: Sendable {
    /// What a start requires when no source says that the data went back.
    public enum Rule: Hashable, Sendable {
        /// Nothing more: witnesses that do not answer are only logged.
        case standard
        /// A confirmation that no later checkpoint was published: from the second memory, or from so many witnesses
        /// that the others are not a quorum without them.
        case confirmed
    }

    /// What it takes.
    public var rule = Rule.standard
    /// The second memory; nil for none.
    public var memory: NewestMemory?
    /// Witnesses whose word does not count, by their names in the policy: one that lies could keep the server from starting.
    public var disregarded: Set<Policy.Name> = []
    /// Whether the operator vouches that a restored copy is the newest state there is.
    public var acceptsRestored = false
    /// Whether the operator vouches for the machine's clock, which is long after what the log signed last, or ahead of the witnesses that answer.
    public var acceptsClock = false

    /// Asks witnesses, demands nothing more, and has no second memory.
    public init() {}

    /// Looks, and asks.
    ///
    /// - Parameters:
    ///   - policy: the clients'.
    ///   - roots: certificates to trust beside the system's when asking witnesses, PEM.
    /// - Returns: the times that witnesses name in their cosignatures, in seconds since 1970.
    /// - Throws: ``RollbackError``. Nothing was written.
    @discardableResult
    func check(
        _ data: DataDirectory, _ policy: Policy, origin: KeyName, roots: [UInt8], logger: Logger
    ) async throws(RollbackError) -> [Policy.Name: UInt64] {
        if memory == nil, !policy.witnesses.contains(where: { $0.url != nil }) {
            logger.warning(
                "nothing outside the data directory knows how far the log has come: an older copy would not be noticed; see --second-memory"
            )
        }
        let isRestored = access(data.restoredMark, F_OK) == 0
        let signed: SignedHead
        do throws(LogOpenError) {
            let log = LogCopy(of: data.log)
            let hold = try log.hold()
            signed = try withExtendedLifetime(hold) { () throws(LogOpenError) in try log.signedHead() }
        } catch { throw .log(error) }
        let isRemembered = try compareMemory(with: signed.head, origin)
        let answers = try await ask(policy, signed, roots, logger)
        try compare(answers, with: signed.head)
        if !isRemembered { try confirm(signed.head, answers, policy, isRestored: isRestored) }
        if isRestored { forgetRestoring(data) }
        return answers.compactMapValues { if case .notAhead(_, let time) = $0 { time } else { nil } }
    }

    private func compareMemory(with head: TreeHead, _ origin: KeyName) throws(RollbackError) -> Bool {
        guard let memory else { return false }
        let remembered: TreeHead?
        do { remembered = try memory.head(of: origin) } catch { throw .memory(error) }
        guard let remembered else { return false }
        guard remembered.size <= head.size else { throw .behindMemory(remembered, own: head) }
        guard remembered.size < head.size || remembered.root == head.root else { throw .otherTreeInMemory(head) }
        return true
    }

    private func ask(
        _ policy: Policy, _ signed: SignedHead, _ roots: [UInt8], _ logger: Logger
    ) async throws(RollbackError) -> [Policy.Name: WitnessMemory] {
        let answers: [Policy.Name: WitnessMemory]
        do throws(WitnessRootsError) {
            answers = try await Self.answers(of: policy, on: signed.note, signed.head, roots: roots, logger)
        } catch { throw .witnessRoots(error) }
        return answers.filter { !disregarded.contains($0.key) }
    }

    /// Asks the witnesses that have an address, and logs which of them do not say what they cosigned last. One machine asks so, and so do
    /// several that share a log.
    static func answers(
        of policy: Policy, on note: SignedNote, _ head: TreeHead, roots: [UInt8], _ logger: Logger
    ) async throws(WitnessRootsError) -> [Policy.Name: WitnessMemory] {
        guard policy.witnesses.contains(where: { $0.url != nil }) else { return [:] }
        var configuration = WitnessQuorum.Configuration()
        configuration.additionalRoots = roots
        let answers = try await WitnessMemory.all(of: policy, on: note, head: head, configuration: configuration)
        for (name, answer) in answers {
            guard case .unknown(let outcome) = answer else { continue }
            logger.warning(
                "a witness did not say what it cosigned last",
                metadata: ["witness": "\(name.text)", "why": "\(outcome.label)"])
        }
        return answers
    }

    private func compare(_ answers: [Policy.Name: WitnessMemory], with head: TreeHead) throws(RollbackError) {
        for (name, answer) in answers.sorted(by: { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }) {
            switch answer {
            case .ahead(let size): throw .behindWitness(name, size: size, own: head)
            case .otherTree: throw .otherTreeWitnessed(name, head)
            case .notAhead, .unknown: break
            }
        }
    }

    /// Demands that witnesses confirm that this is the newest state, if the rule or a restored copy requires it.
    func confirm(
        _ head: TreeHead, _ answers: [Policy.Name: WitnessMemory], _ policy: Policy, isRestored: Bool
    ) throws(RollbackError) {
        let isRequired = rule == .confirmed || isRestored && !acceptsRestored
        guard isRequired, !confirms(answers, policy) else { return }
        if let name = refusing(answers) {
            // The one that refuses may only not know a new key yet, which those that are not reached may know.
            guard confirms(hoped(of: answers, head), policy) else { throw .keyRefused(name, head) }
            throw .keyRefusedByTooFew(name, head)
        }
        guard rule == .standard else { throw .unconfirmed(head) }
        throw .restoredAndUnconfirmed(head)
    }

    /// The answers, if all that were not reached, or had no time, knew this state. Who answered otherwise will not confirm it later either.
    private func hoped(
        of answers: [Policy.Name: WitnessMemory], _ head: TreeHead
    ) -> [Policy.Name: WitnessMemory] {
        answers.mapValues { answer in
            guard case .unknown(let outcome) = answer, outcome.isTemporary else { return answer }
            return .notAhead(size: head.size, at: nil)
        }
    }

    /// A witness that was told of another key of this log, or of none.
    private func refusing(_ answers: [Policy.Name: WitnessMemory]) -> Policy.Name? {
        answers.filter { $0.value == .unknown(.refused(.signatureRefused)) }.keys
            .min { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// A later checkpoint has the cosignatures of a quorum. If the witnesses that did not answer are not a quorum, that
    /// quorum includes one that did answer.
    private func confirms(_ answers: [Policy.Name: WitnessMemory], _ policy: Policy) -> Bool {
        let silent = policy.witnesses.map(\.name).filter { name in
            guard case .notAhead = answers[name] else { return true }
            return false
        }
        return !policy.isQuorumMet(by: Set(silent))
    }

    /// Takes the mark away. If this fails, the next start asks for confirmation again.
    private func forgetRestoring(_ data: DataDirectory) {
        unlink(data.restoredMark)
        try? PrivateFile.synchronize(folder: data.path)
    }
}

/// Why a server does not start, or does not go on: its data may be older than what others have seen. Before a start nothing was written.
public enum RollbackError: Error, Hashable, Sendable {
    /// The log cannot be read.
    case log(LogOpenError)
    /// The second memory cannot be used.
    case memory(NewestMemoryError)
    /// The root certificates for witnesses cannot be used.
    case witnessRoots(WitnessRootsError)
    /// The second memory knows a later checkpoint.
    case behindMemory(TreeHead, own: TreeHead)
    /// The second memory knows another tree of the same size.
    case otherTreeInMemory(TreeHead)
    /// A witness cosigned a later checkpoint.
    case behindWitness(Policy.Name, size: UInt64, own: TreeHead)
    /// A witness cosigned another tree of the same size.
    case otherTreeWitnessed(Policy.Name, TreeHead)
    /// A running server learned that a witness cosigned a later checkpoint than what it had asked it to cosign.
    case foundBehindWitness(Policy.Name, size: UInt64, own: TreeHead)
    /// A running server learned that a witness cosigned another tree.
    case foundOtherTreeWitnessed(Policy.Name, TreeHead)
    /// It is not confirmed that this is the newest state. This witness knows another key of the log than the one that signed it, and so many others
    /// do too, or do not know the log, that those that were not reached cannot confirm it.
    case keyRefused(Policy.Name, TreeHead)
    /// It is not confirmed that this is the newest state. A witness knows another key of the log than the one that signed it, and those that were
    /// not reached can still confirm it.
    case keyRefusedByTooFew(Policy.Name, TreeHead)
    /// Neither the second memory nor enough witnesses confirm that this is the newest state, and that is demanded.
    case unconfirmed(TreeHead)
    /// The data was restored from a backup, and it is not confirmed that it is the newest state.
    case restoredAndUnconfirmed(TreeHead)
}

extension WitnessOutcome {
    /// Whether the witness may answer the same question otherwise later: it was not reached, or had no time.
    fileprivate var isTemporary: Bool {
        switch self {
        case .failed, .refused(.unavailable), .refused(.tooManyRequests): true
        default: false
        }
    }
}

extension Policy.Name {
    /// The name, for people.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension DataDirectory {
    /// Says that the data was restored from a backup, until it is confirmed that it is the newest state.
    public var restoredMark: String { path + "/restored" }
    /// The log.
    var log: String { records + "/log" }
}
