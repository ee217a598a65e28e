// SPDX-License-Identifier: Apache-2.0

package import SQLStores

extension PostgresConnection {
    /// Runs commands outside of a transaction of ours, and returns the first field of the last answer as text.
    ///
    /// - Throws: `SQLFault`.
    @discardableResult
    package func administer(_ commands: String) throws(SQLFault) -> String? {
        do { return try command(commands).words(0, 0) } catch { throw error.fault }
    }
}
