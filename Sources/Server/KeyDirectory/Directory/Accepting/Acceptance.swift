// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SQLStores
import SignetAPI
import TransparencyLog
import VRF

/// A change that is written together with those of others.
enum Acceptance: Sendable {
    /// A new account.
    case registration(Registration)
    /// Any other change: what it does in the transaction, and how many bytes it brings. What it has written when it throws a
    /// ``DirectoryError`` is taken back.
    case change(byteCount: Int, @Sendable (SQLTransaction) throws -> AccountRow?)

    /// How many bytes it brings.
    var byteCount: Int {
        switch self {
        case .registration(let registration): registration.byteCount
        case .change(let count, _): count
        }
    }
}

/// A new account of which everything was checked that only the database can tell, and for which no invitation is needed.
struct Registration: Sendable {
    let handle: Handle
    let label: VRFHash
    let proof: VRFProof
    let row: StateRow
    let devices: [Device]
    let signature: RequestSignature
    let cards: [UInt8]
    let time: UInt64

    /// A device as its row has it. The hashes are made before anybody waits for them in a transaction.
    struct Device: Sendable {
        let number: UInt16
        let key: [UInt8]
        let keyHash: [UInt8]
        let leaf: TreeHash
    }

    init(_ statement: Statement, _ row: StateRow, label: VRFHash, proof: VRFProof) {
        handle = statement.state.handle
        self.label = label
        self.proof = proof
        self.row = row
        devices = statement.state.devices.map { device in
            Device(
                number: device.number, key: device.keys.signing,
                keyHash: Array(SHA256.hash(data: device.keys.signing)),
                leaf: TreeHash.leaf(DeviceLeaf(label: label, device: device.keys).entry))
        }
        signature = statement.signature
        cards = statement.cards
        time = statement.time
    }

    var byteCount: Int { row.encoding.count + cards.count }
}
