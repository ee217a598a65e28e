// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Waits, on a thread that may be held, for something asynchronous.
///
/// Only for threads of the log's stages, which are outside the pool of Swift concurrency.
func waiting<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value? {
    let done = DispatchSemaphore(value: 0)
    let value = Mutex<Value?>(nil)
    Task {
        let result = await body()
        value.withLock { $0 = result }
        done.signal()
    }
    done.wait()
    return value.withLock { $0 }
}
