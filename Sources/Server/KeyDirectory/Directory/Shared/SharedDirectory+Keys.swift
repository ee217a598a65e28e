// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine
import SharedLog
import TransparencyLog

// What a process has to know of changes of the log's key and of its witnesses.
extension SharedDirectory {
    /// Demands that the files of this machine are of after every change of keys and witnesses that the log has: who has older ones would lead
    /// with keys or for witnesses that clients do not trust any more, and serve without the proofs of the changes.
    ///
    /// - Parameters:
    ///   - number: of the last change in the log.
    ///   - changing: the trust of a change that this process makes.
    ///   - isLogged: whether an entry with this hash is in the log.
    /// - Throws: ``LogEngine/SharedLogFault/keysChanged``.
    func requireKnown(
        _ number: UInt64, changing: DirectoryTrust? = nil, isLogged: (TreeHash) -> Bool = { _ in false }
    ) throws(SharedLogFault) {
        guard let history else { return }
        let chain: SuccessionChain?
        do { chain = try SuccessionFile(path: DirectoryPaths(root: history).succession).read() } catch {
            throw .keysChanged
        }
        let last = chain?.links.last?.record
        if let changing {
            let record = Directory.successionRecord(.keys, changing, after: chain)
            if number == record.number, record == last || isLogged(.leaf(record.entry)) { return }
        }
        guard number <= last?.number ?? 0 else { throw .keysChanged }
        // The last change may be the one that ended the log before this one, or this one.
        guard let last, last.policy.logs.contains(where: { $0.name == engines.origin }) else { return }
        guard last.policy == engines.policy else { throw .keysChanged }
    }
}
