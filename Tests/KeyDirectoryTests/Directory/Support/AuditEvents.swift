// SPDX-License-Identifier: Apache-2.0

import SQLStores

extension SQLTransaction {
    /// The audit table: each event with the number of its account.
    func events() throws -> [String] {
        try rows("SELECT event, account FROM audit ORDER BY id").map { "\(try $0.text(0)) \(try $0.integer(1))" }
    }
}
