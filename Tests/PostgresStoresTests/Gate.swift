// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Holds threads until it is opened.
final class Gate: Sendable {
    private let condition = NSCondition()
    private let isOpen = Mutex(false)

    func open() {
        condition.withLock {
            isOpen.withLock { $0 = true }
            condition.broadcast()
        }
    }

    func wait() {
        condition.withLock { while !isOpen.withLock(\.self) { condition.wait() } }
    }
}
