// SPDX-License-Identifier: Apache-2.0

package import LogEngine
package import LogFencing
package import ObjectStores
package import SQLStores
package import TransparencyLog

/// What an operator has decided about objects that are to be made again.
package struct ObjectsRequest: Sendable {
    /// The paths of objects that are written over where they are not what the log has there.
    package var replaced: Set<String> = []
    /// Whether the second memory is made anew although too few witnesses say that nothing later was signed. Then only the database says what
    /// was signed last: if it is an older copy, the log forks.
    package var acceptsUnconfirmed = false
    /// Witnesses whose word does not count, neither of more than the database has nor of nothing later.
    package var disregarded: Set<Policy.Name> = []
    /// The checkpoint that this machine has shown last, which is not verified; nil: it remembers none.
    package var shown: [UInt8]?
    /// How often a write is tried.
    package var retry = ObjectRetry.standard

    package init() {}
}

/// What was made.
package struct ObjectsReport: Hashable, Sendable {
    /// How many entries the log has, for all of which there are objects now.
    package var size: UInt64
    /// How many objects were missing, and are there now.
    package var made = 0
    /// How many had something else, and were written over.
    package var replaced = 0
    /// Whether the second memory was lost or older than what was shown, and is this head now.
    package var hasNewMemory = false
    /// Whether witnesses have said that nothing later was signed.
    package var isConfirmed = false
    /// The witnesses with an address that have not answered.
    package var silent: [Policy.Name] = []

    package init(size: UInt64) { self.size = size }
}

/// Why objects were not made again.
package enum ObjectsRepairEnd: Error, Hashable, Sendable {
    /// The log was not claimed, or database and what was signed are not of one log.
    case candidacy(CandidacyEnd)
    /// These objects are there and are not the log's. Nothing was changed.
    case objectsDiffer(paths: [String])
    /// What was signed last is lost, too few witnesses say what they have cosigned, and these objects are of a log with more entries than the
    /// database has: it is an older copy, unless somebody else put them there. Nothing was changed.
    case objectsBeyond(size: UInt64, paths: [String])
    /// What was signed last is lost, and too few witnesses say what they have cosigned; those with an address that are silent. Nothing was
    /// changed.
    case unconfirmed(silent: [Policy.Name])
    /// The log's key refused.
    case signing(LogSigningError)
}

// A bucket that is lost, emptied, damaged, or restored to an older state.
extension LogCandidate {
    /// Makes the objects of the log from the frames of the database, under a leadership that is claimed as any other: full tiles and bundles,
    /// the tail, the second memory, and the checkpoint for mirrors. Interrupted, it goes on when it is run again.
    ///
    /// Nothing is written before every object was compared: what is there and is not the log's is named, and stays unless the request names it.
    /// The second memory gets the head of all frames, signed after our claim of them was committed. It is never written over a larger head, nor
    /// over one of another root, nor if this machine has shown a larger one, nor if a witness has cosigned a larger one than is published or
    /// remembered; and if it is lost, or older than what is published or served, witnesses have to say that nothing later was signed.
    ///
    /// Security: whoever holds the bucket can stop this, and put nothing into the log or into an object that is written here. Who takes `signed`
    /// away, so that the log is led over an older copy of the database, is stopped by the witnesses; without them the operator decides.
    ///
    /// - Parameters:
    ///   - link: as for ``lead(over:_:_:from:others:)``; it is closed.
    ///   - facts: what that connection's server says of itself, and what is demanded.
    ///   - configuration: with the log's key; its sealing gets every entry.
    ///   - requirement: called once the log is read and before anything is signed or written.
    ///   - witnesses: asked by a checkpoint that is public or remembered; gives the words of those who answer.
    /// - Throws: ``ObjectsRepairEnd``.
    package func makeObjects(
        over link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands), _ configuration: LogConfiguration,
        _ request: ObjectsRequest = ObjectsRequest(),
        requirement: @Sendable () throws(SharedLogFault) -> Void = { () throws(SharedLogFault) in },
        witnesses: @Sendable (PublishedCheckpoint) async -> [Policy.Name: WitnessWord]
    ) async throws(ObjectsRepairEnd) -> ObjectsReport {
        defer { link.close() }
        let (row, sent): (SharedLogRow, Duration)
        do throws(CandidacyEnd) {
            var takeover = try deciding { () throws(TakeoverEnd) in try LogTakeover(on: facts.0, facts.1) }
            let claimed = try await claim(over: link, &takeover)
            (row, sent) = (claimed.0, claimed.sent)
        } catch { throw .candidacy(error) }
        let lease = LeaseKeeper(engines.database, holder: holder, sent: sent, clock: clock)
        lease.start()
        do throws(ObjectsRepairEnd) {
            let report = try await ObjectsRepair(engines: engines, row: row, request: request, link: link)
                .run(configuration, requirement, witnesses)
            await lease.end()
            return report
        } catch {
            await lease.end()
            throw error
        }
    }
}
