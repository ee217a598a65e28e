// SPDX-License-Identifier: Apache-2.0

extension PostgresServer {
    /// Copies a database with pg_dump, as a backup does.
    ///
    /// - Returns: where the copy is.
    package func dump(_ database: String) throws -> String {
        let path = "\(socketFolder)/dump-\(newNumber())"
        try LabCommand.run(
            LabCommand.program("pg_dump"), ["-h", socketFolder, "-U", "signet", "-Fc", "-f", path, database],
            asServer: true)
        return path
    }

    /// Puts a copy in the place of what a database has.
    package func restore(_ dump: String, to database: String) throws {
        try LabCommand.run(
            LabCommand.program("pg_restore"),
            ["-h", socketFolder, "-U", "signet", "--clean", "--if-exists", "-d", database, dump], asServer: true)
    }
}
