// SPDX-License-Identifier: Apache-2.0

import CardSigner
import Foundation
import KeyDirectory
import LogFencing
import NoteStore
package import ObjectStores
import Platform
package import PostgresStores
import RecoveryStore
import S3Requests
package import S3Stores
package import SQLStores
package import SharedLog
import TransparencyLog

/// The engines of a directory that several processes share, connected.
package struct SharedEngines: Sendable {
    /// Where they are.
    package let file: EnginesFile
    let address: PostgresAddress
    /// The objects of the log, and of files of notes.
    package let objects: any ObjectStore
    /// What this process counts of the log.
    package let meters = SharedLogMeters()
    /// Ends what this process asks the database.
    let cutOff = PostgresCutOff()
    /// How long the server may take for each command; nil: as long as it wants, for whoever copies whole tables.
    var patience: Duration? = .seconds(30)
    /// The operator's word that the database keeps each commit on several machines by itself: of tests.
    let replicatesBelowSQL: Bool

    /// - Parameter address: of the database that `file` names.
    init(
        file: EnginesFile, address: PostgresAddress, objects: any ObjectStore, replicatesBelowSQL: Bool = false
    ) {
        self.file = file
        self.address = address
        self.objects = objects
        self.replicatesBelowSQL = replicatesBelowSQL
    }

    /// Reads `engines` of a data directory and connects to the object store, which has to be the one that the directory was moved to.
    ///
    /// - Returns: nil if the directory is of one machine.
    /// - Throws: ``SharedEnginesError``.
    package static func open(_ data: DataDirectory) async throws(SharedEnginesError) -> SharedEngines? {
        guard let engines = try await openAny(data) else { return nil }
        if let mark = engines.file[.home], await BucketHome(engines.objects).isMissing(mark) {
            throw .otherBucket(engines.file[.bucket] ?? "", prefix: engines.file[.prefix] ?? "")
        }
        return engines
    }

    /// The same with any bucket: for whoever makes its objects again.
    ///
    /// - Throws: ``SharedEnginesError``.
    package static func openAny(_ data: DataDirectory) async throws(SharedEnginesError) -> SharedEngines? {
        let text: [UInt8]
        do throws(FileFailure) { text = try PrivateFile.read(data.engines) } catch {
            guard error.code == ENOENT else { throw .file(error) }
            return nil
        }
        let file: EnginesFile
        do { file = try EnginesFile(decoding: String(decoding: text, as: UTF8.self)) } catch { throw .engines(error) }
        return try await connect(file, data)
    }

    /// Connects to engines.
    ///
    /// - Throws: ``SharedEnginesError``.
    package static func connect(
        _ file: EnginesFile, _ data: DataDirectory
    ) async throws(SharedEnginesError) -> SharedEngines {
        let address: PostgresAddress
        do { address = try PostgresAddress(file[.database] ?? "") } catch { throw .address(error) }
        let configuration: S3Configuration
        do throws(S3ConfigurationError) {
            configuration = try Self.configuration(file, data)
        } catch { throw .objectsConfiguration(error) }
        do {
            return SharedEngines(file: file, address: address, objects: try await S3Objects.open(configuration))
        } catch {
            throw .objects(error)
        }
    }

    private static func configuration(
        _ file: EnginesFile, _ data: DataDirectory
    ) throws(S3ConfigurationError) -> S3Configuration {
        var configuration = try S3Configuration(
            endpoint: S3Endpoint(file[.objects] ?? ""), region: file[.region] ?? "us-east-1",
            bucket: file[.bucket] ?? "", prefix: file[.prefix] ?? "", credentials: S3Credentials(file: data.objectKey))
        configuration.certificateAuthorities = file[.authority]
        return configuration
    }

    // MARK: The stores

    /// A pool for one store, whose tables are brought up to date.
    ///
    /// - Parameter count: how many connections it has at most.
    /// - Throws: ``SharedEnginesError``.
    package func database(_ schema: SQLSchema, count: Int = 4) throws(SharedEnginesError) -> any SQLDatabase {
        var options = PostgresDatabase.Options()
        options.connectionCount = count
        options.waiting = .seconds(10)
        // A server that stands still holds nobody for ever; what it was asked then is of unknown outcome.
        options.patience = patience
        options.demandsStandbys = !replicatesBelowSQL
        options.cutOff = cutOff
        options.onRepeat = { [meters] in meters.repeated() }
        do { return try PostgresDatabase(at: address, schema, options: options) } catch { throw .database(error) }
    }

    /// The log's engines, for whoever trusts what this policy says.
    ///
    /// - Throws: ``SharedEnginesError``.
    func log(_ policy: Policy, _ origin: KeyName, count: Int = 4) throws(SharedEnginesError) -> SharedLogEngines {
        SharedLogEngines(
            database: try database(SharedLogTables.schema, count: count), objects: objects, policy: policy,
            origin: origin, meters: meters)
    }

    /// A connection for the one who leads, with what its server says of itself.
    ///
    /// - Parameter patience: how long the server may take for each command; nil: as long as it wants.
    /// - Throws: ``SharedEnginesError``.
    func link(
        patience: Duration? = .seconds(30)
    ) async throws(SharedEnginesError) -> (any SQLDatabase, DatabaseFacts) {
        let link: PostgresLink
        do {
            link = try PostgresLink(
                to: address, schema: SharedLogTables.schema.name, patience: patience, cutOff: cutOff)
        } catch { throw .database(error) }
        do { return (PostgresLeaderLink(link), try await link.facts(replicatesBelowSQL: replicatesBelowSQL)) } catch {
            await link.close()
            throw .databaseAway
        }
    }

    /// Demands the database that the directory was moved to, or one that has followed it.
    ///
    /// - Throws: ``StoredDirectoryError``.
    func requireInstallation() async throws(StoredDirectoryError) {
        let facts: DatabaseFacts
        do throws(SharedEnginesError) {
            let (link, found) = try await link()
            link.close()
            facts = found
        } catch { throw .shared(SharedSetupError(error)) }
        do throws(DatabaseFault) { try demands.requireInstallation(facts) } catch {
            throw .shared(SharedSetupError(SharedDirectoryError.candidacy(.ended(.unfitDatabase(error)))))
        }
    }

    /// How many connections of the same user there are that are not ours: of other processes of the directory.
    ///
    /// - Parameter looks: how often to look, after the tenth ten times a second, as long as there are any: what has just ended is waited for.
    /// - Throws: ``SharedEnginesError``.
    func othersConnected(looks: Int = 60) async throws(SharedEnginesError) -> Int {
        let (link, _) = try await link(patience: nil)
        defer { link.close() }
        var count = 0
        for attempt in 0..<looks {
            if attempt > 0 { try? await Task.sleep(for: .milliseconds(attempt < 10 ? 10 : 100)) }
            let row: Int64?
            do {
                row = try link.readNow { transaction in
                    try transaction.row(
                        """
                        SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
                        AND usename = current_user AND pid <> pg_backend_pid() AND backend_type = 'client backend'
                        """)?.integer(0)
                }
            } catch { throw .databaseAway }
            count = Int(row ?? 0)
            if count == 0 { break }
        }
        return count
    }

    /// A name for the lease that no other process has, nor another start of this one.
    ///
    /// - Parameter command: what leads for a moment; empty for a process that sequences.
    static func holder(_ command: String = "") -> String {
        let start = "\(ProcessInfo.processInfo.hostName) \(getpid()) \(UInt64.random(in: .min ... .max))"
        return command.isEmpty ? start : "\(command) \(start)"
    }

    /// What is demanded of the database of a leader.
    var demands: DatabaseDemands {
        DatabaseDemands(
            systemIdentifier: file[.system].flatMap { UInt64($0) } ?? 0,
            timeline: file[.timeline].flatMap { UInt64($0) } ?? 0, database: file[.oid].flatMap { UInt32($0) })
    }
}

/// Why shared engines were not connected.
package enum SharedEnginesError: Error, Sendable {
    /// The file `engines` was not read.
    case file(FileFailure)
    /// It is not one.
    case engines(EnginesFileError)
    /// The address of the database is none.
    case address(PostgresAddressError)
    /// The database was not opened.
    case database(PostgresOpenError)
    /// The database does not answer. A retry may help.
    case databaseAway
    /// The configuration of the object store is none.
    case objectsConfiguration(S3ConfigurationError)
    /// The object store does not answer, or not as it must.
    case objects(S3OpenError)
    /// The bucket is not the one to which the directory was moved, or has lost its object `home`.
    case otherBucket(String, prefix: String)
}
