// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import SQLStores
import TransparencyLog

extension SQLRow {
    /// The version in a column.
    func version(_ column: Int) throws -> UInt64 { try count(column) }

    /// The leaf hash in a column.
    func leaf(_ column: Int) throws -> TreeHash {
        guard let leaf = TreeHash(try bytes(column)) else { throw DamagedRow() }
        return leaf
    }
}
