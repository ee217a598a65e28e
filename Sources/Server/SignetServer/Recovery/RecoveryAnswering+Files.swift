// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import RecoveryStore
import SignetAPI

// What a device of the owner's may store where guardians' parts have to open something: the checks in their order.
extension RecoveryAnswering {
    func storeFile(_ body: [UInt8], of owner: Handle) async throws(PartRefusal) -> [UInt8] {
        let file = try read { try RecoveryFile(decoding: body) }
        guard let parts = file.parts, parts.isWhole else { throw PartRefusal(.badRequest) }
        let kept = try await stored { () throws(MailboxStoreError) in
            try await store.file(under: file.commitment, of: owner)
        }.flatMap { RecoveryFile(commitment: file.commitment, bytes: $0).parts }
        let states = try await states(of: owner, signing: parts.records + (kept?.records ?? []))
        try checkSigned(parts, by: states)
        if let kept { try checkGrown(parts, from: kept, by: states) }
        let named = try await named(by: owner)
        try await stored { () throws(MailboxStoreError) in
            try await store.keep(file, of: owner, sparing: named, at: clock())
        }
        return []
    }

    /// Each record is signed by a device that its version of the account lists, and a device that is left has added last.
    private func checkSigned(_ parts: RecoveryFileParts, by states: [AccountState]) throws(PartRefusal) {
        let judged = parts.records.judged(in: parts.scope, by: states)
        guard judged.vouched == parts.records.count else { throw PartRefusal(.badRequest) }
    }

    /// A holder of one of the account's devices cannot remove what guardians open: a journal only grows. Records that
    /// no device of the account signed, in a file from before the server checked, may be dropped.
    private func checkGrown(
        _ parts: RecoveryFileParts, from kept: RecoveryFileParts, by states: [AccountState]
    ) throws(PartRefusal) {
        guard !parts.records.starts(with: kept.records) else { return }
        let signed = kept.records.judged(in: kept.scope, by: states).signed
        guard parts.records.starts(with: kept.records.prefix(signed)) else { throw PartRefusal(.versionConflict) }
    }

    private func states(
        of owner: Handle, signing records: [JournalRecord]
    ) async throws(PartRefusal) -> [AccountState] {
        do { return try await directory.publishedStates(of: owner, at: Set(records.map(\.version))) } catch {
            throw PartRefusal(.unavailable)
        }
    }
}
