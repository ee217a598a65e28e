// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import Logging
import SignetAPI
public import TransparencyLog

/// A change that was interrupted: the log has it, and the files of the directory do not have all of it. It cannot be taken back, and until it is
/// complete no other one can be made and no server starts.
public enum PendingChange: Hashable, Sendable {
    /// Of the witnesses: the lines that complete it, as ``DirectorySetup/witnesses``.
    case witnesses([UInt8])
    /// Of the log's key: the next one.
    case logKey(VerifierKey)
    /// The log ends: the keys of the one that goes on.
    case successor([VerifierKey])

    /// What a record of the log that was interrupted changes.
    init(_ record: SuccessionRecord, after profile: DirectoryProfile) {
        let logs = record.policy.logs
        guard record.kind == .keys else {
            self = .successor(logs)
            return
        }
        guard let key = logs.first, logs != profile.trust.policy.logs else {
            self = .witnesses(DirectoryKeyRotation.witnessLines(of: record.policy))
            return
        }
        self = .logKey(key)
    }
}

extension StoredDirectory {
    /// Why files that were made before the last change are refused: with that change, if it is one of keys or witnesses of this machine's log, and with the
    /// file of the changes, if that alone is older.
    static func refusal(
        _ error: DirectoryOpenError, of data: DataDirectory, _ profile: DirectoryProfile
    ) -> StoredDirectoryError {
        guard case .keysChanged = error else { return .directory(error) }
        let rotation = DirectoryKeyRotation(data, logger: Logger(label: "pending") { _ in SwiftLogNoOpLogHandler() })
        do throws(KeyRotationError) {
            guard let record = try rotation.pendingChange(after: profile), record.kind == .keys else {
                return .directory(error)
            }
            return .changePending(PendingChange(record, after: profile))
        } catch {
            guard case .stored(.successionOutdated) = error else { return .directory(.keysChanged) }
            return .successionOutdated
        }
    }
}

extension DirectoryKeyRotation {
    /// The record of a change of this machine's log that was interrupted; nil: there is none.
    func pendingChange(after profile: DirectoryProfile) throws(KeyRotationError) -> SuccessionRecord? {
        try pendingChange(at: data.records, after: profile.trust.policy, logged: loggedChanges())
    }

    /// The record of a change that was interrupted, by what its log says; nil: there is none.
    ///
    /// - Parameter folder: of the file of the changes.
    /// - Throws: ``KeyRotationError/stored(_:)``: that file lacks a change that was complete, or is damaged. What would be put there instead leads
    ///   no client on that trusts what was before.
    func pendingChange(
        at folder: String, after policy: Policy, logged: LoggedChanges
    ) throws(KeyRotationError) -> SuccessionRecord? {
        do { return try KeyChanges(at: folder).pending(after: policy, logged: logged) } catch {
            throw .stored(error == .keysChanged ? .successionOutdated : .successionUnreadable)
        }
    }

    /// Refuses every other change than the one that was interrupted.
    ///
    /// - Parameter policy: of the change that is to be made; nil: it cannot be the same.
    /// - Throws: ``KeyRotationError/otherChange(_:)``.
    func require(
        _ policy: Policy?, as pending: SuccessionRecord?, after profile: DirectoryProfile
    ) throws(KeyRotationError) {
        guard let pending, pending.policy != policy else { return }
        throw .otherChange(PendingChange(pending, after: profile))
    }
}
