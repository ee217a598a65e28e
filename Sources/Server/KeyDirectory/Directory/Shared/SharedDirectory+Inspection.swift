// SPDX-License-Identifier: Apache-2.0

package import LogEngine
import SQLStores
package import SharedLog
import TransparencyLog

extension SharedDirectory {
    /// What reading a shared directory whole gave.
    package struct Report: Sendable {
        /// Of the log.
        package var log = SharedLogReport()
        /// Of the accounts, and of both together.
        package var directory = DirectoryInspection.Report()
        /// What kept the accounts from being read.
        package var unread: SharedLogFault?
    }

    /// Reads log, objects and accounts whole, and compares them with each other, with what this machine has shown, and with the changes of keys
    /// and witnesses that its files are of. The cluster may run meanwhile. Nothing is written.
    package func inspect(vrfKey: [UInt8]) async -> Report {
        var report = Report()
        let epochs = EpochSealer(clock: { 0 })
        var logged = DirectoryInspection.Logged()
        report.log = await engines.inspect(sealing: epochs, shown: shownHere) { logged.take($0, $1) }
        if report.log.isRead {
            report.directory.note(epochs)
            do throws(SharedLogFault) { try requireKnown(epochs.succession) } catch { report.log.note(.fault(error)) }
        }
        let stored: DirectoryInspection.Stored
        do { stored = try await accounts.read { try DirectoryInspection.Stored($0) } } catch {
            report.unread = (error as? SQLFault).map { .unavailable("database: \($0.code)") } ?? .rowDamaged
            return report
        }
        guard stored.origin == engines.origin.bytes, stored.vrfKey == vrfKey else {
            report.directory.faults.append(.databaseOfOtherDirectory)
            return report
        }
        // What the accounts lack cannot be said of a log that was not read.
        guard report.log.isRead else { return report }
        DirectoryInspection.compare(stored, with: logged, epochs, &report.directory)
        return report
    }
}

extension SharedLogReport {
    /// Whether every entry was read.
    fileprivate var isRead: Bool {
        !defects.contains { defect in
            switch defect {
            case .log, .fault(.frameMissing), .fault(.frameDamaged), .fault(.unavailable), .fault(.noLog): true
            default: false
            }
        }
    }
}
