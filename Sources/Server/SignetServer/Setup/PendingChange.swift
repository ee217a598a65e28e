// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
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
}

extension DirectoryKeyRotation {
    /// The record of a change of this machine's log that was interrupted; nil: there is none.
    func pendingChange(after profile: DirectoryProfile) throws(KeyRotationError) -> SuccessionRecord? {
        let logged = try loggedChange()
        do { return try KeyChanges(at: data.records).pending(after: profile.trust.policy, logged: logged) } catch {
            throw .stored(.directory(error))
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
        let logs = pending.policy.logs
        guard pending.kind == .keys else { throw .otherChange(.successor(logs)) }
        guard let key = logs.first, logs != profile.trust.policy.logs else {
            throw .otherChange(.witnesses(Self.witnessLines(of: pending.policy)))
        }
        throw .otherChange(.logKey(key))
    }
}
