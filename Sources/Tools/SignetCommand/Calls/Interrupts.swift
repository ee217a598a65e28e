// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Platform

/// Signals of the operating system, which then do nothing else: SIGINT and SIGTERM end a call, or a wait, in good order instead of the process.
final class Interrupts: Sendable {
    private let stream: AsyncStream<Void>
    private let numbers: [Int32]
    /// Only kept.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

    init(_ numbers: [Int32]) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        self.numbers = numbers
        sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// From now on the signals end the process again.
    func release() {
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
    }

    /// Returns at the next, or when the task is cancelled.
    func wait() async { for await _ in stream { return } }
}
