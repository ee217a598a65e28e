// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI

/// A submission with the signed request that brought it: what the database keeps as evidence.
struct Statement: Sendable {
    let submission: StateSubmission
    let signature: RequestSignature
    /// When it came, in seconds since 1970.
    let time: UInt64

    var state: AccountState { submission.state }
    var opening: [UInt8] { submission.opening }

    /// The state with the X-Wing keys of its devices: from their cards, and from the state before.
    func state(after current: AccountState?) -> AccountState {
        let cards = submission.cards.map { ($0.request.keys.hash, $0.request.keys.kem) }
        let known = (current?.devices ?? []).compactMap { device in device.keys.kem.map { (device.keys.hash, $0) } }
        let keys = Dictionary(cards + known) { first, _ in first }
        return state.completed { keys[$0] }
    }

    /// The cards one after the other; with state and opening they make up the body that was signed.
    var cards: [UInt8] { submission.cards.flatMap(\.encoded) }
}

extension AccountState {
    /// Whether a new device asks for the identity.
    var isStart: Bool { if case .started = step { true } else { false } }
    /// Whether a device objected.
    var isStop: Bool { if case .stopped = step { true } else { false } }
    /// Whether a device that the account did not have brings it.
    var isRecoveryByNewDevice: Bool {
        switch step {
        case .started, .recovered: true
        case .ordinary, .stopped: false
        }
    }
}
