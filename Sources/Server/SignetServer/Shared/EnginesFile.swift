// SPDX-License-Identifier: Apache-2.0

import LogFencing
import Platform
import PostgresStores
import S3Stores

/// Where the engines are that the processes of one directory share: the file `engines` of a data directory, the same on each machine.
///
/// One line for each, a name, a space, and the rest:
/// ```
/// database   a connection string of PostgreSQL, or an address that begins with postgres://
/// objects    the address of a store that speaks S3, such as https://s3.example.org
/// bucket     its bucket
/// prefix     what stands in front of every path, ending in a slash; may be left out
/// region     of the bucket; us-east-1 if left out
/// authority  a file of certificates in PEM that the store's is to be of; the system's if left out
/// system     the system identifier of the database's installation, which `signetd move` has written down
/// timeline   the newest one that was seen
/// oid        the number of the database in that installation, which `signetd move` has written down too
/// home       what the bucket's object of this name holds: that it is the bucket to which the directory was moved
/// ```
/// Passwords are not in it: PostgreSQL's is in a file of `PGPASSFILE`, and the key of the object store in `keys/objects`.
package struct EnginesFile: Hashable, Sendable {
    /// What a line is called.
    enum Name: String, CaseIterable {
        case database, objects, bucket, prefix, region, authority, system, timeline, oid, home
    }

    private var values: [Name: String] = [:]

    subscript(name: Name) -> String? { values[name] }

    /// - Throws: ``EnginesFileError``.
    package init(
        database: String, objects: String, bucket: String, prefix: String?, region: String?, authority: String?
    ) throws(EnginesFileError) {
        values[.database] = database
        values[.objects] = objects
        values[.bucket] = bucket
        values[.prefix] = prefix
        values[.region] = region
        values[.authority] = authority
        for (name, value) in values where !Self.isLine(value) { throw .line(name.rawValue) }
    }

    /// Reads the text of a file.
    ///
    /// - Throws: ``EnginesFileError``.
    package init(decoding text: String) throws(EnginesFileError) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard parts.count == 2, let name = Name(rawValue: String(parts[0])) else {
                throw .line(String(parts.first ?? ""))
            }
            guard values.updateValue(String(parts[1]), forKey: name) == nil else { throw .repeated(name.rawValue) }
        }
        for name in [Name.database, .objects, .bucket] where values[name] == nil { throw .missing(name.rawValue) }
        for name in [Name.system, .timeline] where values[name].map({ UInt64($0) == nil }) == true {
            throw .line(name.rawValue)
        }
        guard values[.oid].map({ UInt32($0) != nil }) ?? true else { throw .line(Name.oid.rawValue) }
    }

    /// The same with what is known of the database's installation, and of the bucket.
    func of(_ facts: DatabaseFacts, home: String) -> EnginesFile {
        var file = self
        file.values[.system] = "\(facts.systemIdentifier)"
        file.values[.timeline] = "\(facts.timeline)"
        file.values[.oid] = "\(facts.database)"
        file.values[.home] = home
        return file
    }

    /// As it is written.
    package var text: String {
        Name.allCases.compactMap { name in values[name].map { "\(name.rawValue) \($0)\n" } }.joined()
    }

    private static func isLine(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 } && text.first != " " && text.last != " "
    }
}

/// Why a file of engines is none.
package enum EnginesFileError: Error, Hashable, Sendable {
    /// A line with this name is not one of the file, or has nothing behind its name.
    case line(String)
    /// A line is there twice.
    case repeated(String)
    /// A line is not there.
    case missing(String)
}

extension DataDirectory {
    /// Where the engines are that several machines share; not there in a directory of one machine.
    package var engines: String { path + "/engines" }
    /// The key of the object store, as `S3Credentials` reads it; mode 0600.
    package var objectKey: String { keys + "/objects" }
    /// Proofs of earlier changes of keys, and what earlier logs held: the same on each machine.
    package var history: String { path + "/history" }
    /// What clients trusted before a change of keys or witnesses; there until that change is complete.
    package var formerProfile: String { profile + ".before" }
    /// What a process of a shared directory keeps on its own machine, and may lose.
    package var state: String { path + "/state" }
}
