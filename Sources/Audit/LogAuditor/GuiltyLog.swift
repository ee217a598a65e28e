// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetClient
import TransparencyLog

/// A log that was found guilty on this machine, described so that another audit recognises it. A log that continues it,
/// or the same log under another key, is guilty too.
public struct GuiltyLog: Sendable {
    /// What it did.
    public let evidence: Evidence
    /// The names under which it signed.
    private let origins: Set<[UInt8]>
    /// Its key, by the name of the folder in which it was audited: the evidence there may be of a log before it.
    private let folderKeyID: KeyID?

    /// The log of a folder with evidence; nil where there is none that can be read.
    public init?(_ folder: AuditFolder) {
        guard let name = folder.evidenceNames().first,
            let bytes = try? folder.evidence(name).read(maximumByteCount: Evidence.maximumByteCount),
            let evidence = try? Evidence(decoding: bytes)
        else { return nil }
        self.evidence = evidence
        origins = Set(evidence.notes.compactMap { try? Checkpoint(decoding: $0.text).origin.bytes })
        folderKeyID = folder.logKeyID
    }

    /// The guilty logs that were audited below a home folder, but for one folder.
    public static func all(in home: String, besides own: AuditFolder) -> [GuiltyLog] {
        AuditFolder.all(in: home, besides: own).compactMap(GuiltyLog.init)
    }

    /// Whether a log is this one under another key, or says in its first entry that it goes on from it.
    func isOrigin(of log: Checkpoint, beginningWith entry: [UInt8]?) -> Bool {
        if origins.contains(log.origin.bytes) { return true }
        guard let entry, let former = try? PredecessorRecord(decoding: entry).note,
            let origin = try? Checkpoint(decoding: former.text).origin
        else { return false }
        return origins.contains(origin.bytes)
            || former.signatures.contains { $0.name == origin && $0.keyID == folderKeyID }
    }
}

extension Evidence {
    /// The checkpoints in it.
    var notes: [SignedNote] {
        switch self {
        case .fork(let fork): [fork.first, fork.second]
        case .rule(let rule): [rule.checkpoint]
        }
    }
}
