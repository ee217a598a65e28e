// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Platform
import Synchronization

/// Signals of the operating system, which then do nothing else: SIGINT and SIGTERM end a call, or a wait, in good order instead of the process.
final class Interrupts: Sendable {
    private let stream: AsyncStream<Void>
    private let come: Come
    private let numbers: [Int32]
    /// Only kept.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

    init(_ numbers: [Int32]) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let come = Come()
        self.stream = stream
        self.come = come
        self.numbers = numbers
        sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                come.note(number)
                continuation.yield()
            }
            source.resume()
            return source
        }
    }

    /// Whether this signal has come.
    func has(_ number: Int32) -> Bool { come.numbers.withLock { $0.contains(number) } }

    /// From now on the signals end the process again.
    func release() {
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
    }

    /// Returns at the next, or when the task is cancelled.
    func wait() async { for await _ in stream { return } }

    /// Those that have come.
    private final class Come: Sendable {
        let numbers = Mutex<Set<Int32>>([])

        func note(_ number: Int32) { _ = numbers.withLock { $0.insert(number) } }
    }
}
