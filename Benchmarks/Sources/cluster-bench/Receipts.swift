// SPDX-License-Identifier: Apache-2.0

import KeyTransparency

/// What a directory acknowledged: this version of this account is in its published log.
struct Receipt: Sendable {
    let handle: Handle
    let version: UInt64
    /// SHA-256 of the account state, 32 bytes.
    let stateHash: [UInt8]
}

/// All of them, in the order in which they came.
actor Receipts {
    private var all: [Receipt] = []
    private var checked = 0

    func add(_ receipt: Receipt) { all.append(receipt) }

    /// Anybody's; nil before the first.
    func any() -> Receipt? { all.randomElement() }

    /// The newest one of each account: of all, or of what came since the last time.
    func toCheck(isWhole: Bool) -> [Receipt] {
        let receipts = isWhole ? all[...] : all[checked...]
        checked = all.count
        let newest = Dictionary(receipts.map { ($0.handle, $0) }) { $0.version > $1.version ? $0 : $1 }
        return Array(newest.values)
    }
}
