// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HTTPTypes
import KeyDirectory
import KeyTransparency
import NIOHTTP1
import SignetAPI

/// Answers what the directory has in memory, without a task: lookups of accounts that were asked for lately, the
/// checkpoint, and tiles of hashes.
///
/// Such an answer is the one that ``HTTPExchange`` gives to the same request, under the same rate and with the same counts.
struct ReadyAnswers: Sendable {
    private let exchange: HTTPExchange

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    /// The longest body of a request that is answered so, in bytes.
    static let maximumBodyByteCount = 1024

    /// Where a request is going, if its answer may be in memory; nil for every other one.
    func destination(of head: HTTPRequestHead) -> Destination? {
        guard head.version == .http2 || head.version == .http1_1 && head.isKeepAlive,
            !head.headers.contains(name: "Expect"), !head.headers.contains(name: KnownSize.headerName)
        else { return nil }
        let destination = Destination(
            method: head.method.rawValue, path: head.uri, parts: exchange.answering.parts)
        return switch destination {
        case .route(.lookup), .checkpoint, .tile: destination
        default: nil
        }
    }

    /// The whole answer, or nil if a task has to give it; then nothing is counted.
    ///
    /// - Parameter start: when the request's head was there, in nanoseconds of the server's clock.
    func answer(
        _ destination: Destination, _ body: [UInt8], from client: ClientAddress, since start: UInt64
    ) -> Answer? {
        guard let ready = ready(destination, body) else { return nil }
        let answer = answer(ready, destination, from: client)
        exchange.metrics.answered(
            destination.name, answer.status.code, nanoseconds: Int64(clamping: now - start))
        return answer
    }

    /// The `Date` header of an answer.
    var date: String { exchange.date.now }

    /// Nanoseconds of the server's clock.
    var now: UInt64 { exchange.clock.uptime() }

    private func answer(
        _ ready: () throws(Refusal) -> Answer, _ destination: Destination, from client: ClientAddress
    ) -> Answer {
        if let refusal = exchange.charge(client, for: destination) { return refusal }
        do throws(Refusal) { return try ready() } catch {
            if error.isLogStopped { exchange.onLogStopped() }
            return error.answer
        }
    }

    private func ready(_ destination: Destination, _ body: [UInt8]) -> (() throws(Refusal) -> Answer)? {
        switch destination {
        case .route(.lookup):
            guard let request = try? LookupRequest(decoding: body) else { return nil }
            return ready(.lookup(request), Answer.native)
        case .checkpoint: return ready(.checkpoint, Answer.checkpoint)
        case .tile(let tile): return ready(.tile(tile), Answer.tile)
        default: return nil
        }
    }

    private func ready(
        _ question: OpenQuestion, _ print: @escaping ([UInt8]) -> Answer
    ) -> (() throws(Refusal) -> Answer)? {
        guard let ready = exchange.answering.directory.ready(question) else { return nil }
        return { () throws(Refusal) in
            do throws(DirectoryError) { return print(try ready()) } catch { throw Refusal(error) }
        }
    }
}
