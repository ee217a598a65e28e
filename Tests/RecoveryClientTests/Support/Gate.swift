// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Holds threads until it is opened.
final class Gate: Sendable {
    private let condition = NSCondition()
    private let state = Flag()

    var isOpen: Bool { state.isSet }

    func open() {
        condition.withLock {
            state.isSet = true
            condition.broadcast()
        }
    }

    func wait() {
        condition.withLock { while !state.isSet { condition.wait() } }
    }
}
