// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import PinnedHTTP
public import STOMP
import SignetClient
import Synchronization

/// One connection to a STOMP 1.2 server, from CONNECTED to the end. It keeps the heart-beats that were agreed on, both ways.
///
/// Frames leave in the order in which they are given. One task reads.
public final class StompConnection: Sendable {
    private struct State {
        var decoder: StompDecoder
        var lastSent = ContinuousClock.now
        var lastReceived = ContinuousClock.now
        var isSilent = false
        var greeting: StompFrame?
    }

    /// The server's CONNECTED frame.
    public var greeting: StompFrame? { state.withLock { $0.greeting } }
    private let link: any StompLink
    private let state: Mutex<State>
    private let outgoing: AsyncStream<[UInt8]>.Continuation
    private let tasks = Mutex<[Task<Void, Never>]>([])

    private init(_ link: any StompLink, _ limits: StompLimits) {
        self.link = link
        state = Mutex(State(decoder: StompDecoder(limits: limits)))
        let (frames, outgoing) = AsyncStream.makeStream(of: [UInt8].self)
        self.outgoing = outgoing
        let writer = Task { for await bytes in frames { if (try? await link.send(bytes)) == nil { break } } }
        tasks.withLock { $0 = [writer] }
    }

    deinit { for task in tasks.withLock({ $0 }) { task.cancel() } }

    /// Says CONNECT and waits for CONNECTED.
    ///
    /// - Parameters:
    ///   - link: a fresh connection.
    ///   - headers: of CONNECT, beside `accept-version` and `heart-beat`.
    ///   - heartBeat: what this side promises and wants.
    ///   - limits: how large the server's frames may be.
    /// - Throws: ``StompConnectionError``.
    public static func open(
        over link: any StompLink, headers: [StompHeader], heartBeat: HeartBeat, limits: StompLimits = StompLimits()
    ) async throws(StompConnectionError) -> StompConnection {
        let connection = StompConnection(link, limits)
        let own = [
            StompHeader(.acceptVersion, Array("1.2".utf8)), StompHeader(.heartBeat, heartBeat.encoded),
        ]
        let connect: StompFrame
        do { connect = try StompFrame(.connect, own + headers) } catch { throw .invalidFrame(error) }
        connection.send(connect)
        do throws(StompConnectionError) {
            guard let answer = try await connection.receive() else { throw .closed }
            guard answer.command == .connected, answer.value(of: .version) == Array("1.2".utf8) else {
                throw answer.command == .error ? .refused(answer) : .notConnected
            }
            connection.state.withLock { $0.greeting = answer }
            connection.keepTime(heartBeat, answer)
            return connection
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Sends a frame after those before.
    public func send(_ frame: StompFrame) { send(bytes: frame.encoded) }

    /// Sends bytes that need not be a frame.
    package func send(bytes: [UInt8]) {
        state.withLock { $0.lastSent = .now }
        outgoing.yield(bytes)
    }

    /// The next frame; nil when the server has closed in an orderly way. For one reader at a time, whose cancellation closes
    /// the connection.
    ///
    /// - Throws: ``StompConnectionError``; the connection is of no more use.
    public func receive() async throws(StompConnectionError) -> StompFrame? {
        let result = await withTaskCancellationHandler {
            do throws(StompConnectionError) {
                return Result<StompFrame?, StompConnectionError>.success(try await nextFrame())
            } catch { return .failure(error) }
        } onCancel: {
            Task { [link] in await link.close() }
        }
        return try result.get()
    }

    private func nextFrame() async throws(StompConnectionError) -> StompFrame? {
        while true {
            if let element = try next() {
                if case .frame(let frame) = element { return frame }
                continue
            }
            let bytes: [UInt8]?
            do { bytes = try await link.receive() } catch {
                throw state.withLock { $0.isSilent } ? .silent : .transport(error)
            }
            guard let bytes else { return nil }
            state.withLock { state in
                state.lastReceived = .now
                state.decoder.append(bytes)
            }
        }
    }

    /// Closes the connection without a word of STOMP.
    public func close() async {
        outgoing.finish()
        for task in tasks.withLock({ $0 }) { task.cancel() }
        await link.close()
    }

    private func next() throws(StompConnectionError) -> StompDecoder.Element? {
        let result = state.withLock { state -> Result<StompDecoder.Element?, StompDecodingError> in
            do throws(StompDecodingError) { return .success(try state.decoder.next()) } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let element): return element
        case .failure(let error): throw .malformed(error)
        }
    }

    private func keepTime(_ ours: HeartBeat, _ answer: StompFrame) {
        let theirs = answer.value(of: .heartBeat).flatMap { try? HeartBeat(decoding: $0) } ?? .none
        let (sending, receiving) = (ours.sendInterval(to: theirs), ours.receiveInterval(from: theirs))
        guard let shortest = [sending, receiving].compactMap({ $0 }).min() else { return }
        let pause = Duration.milliseconds(max(50, shortest / 4))
        let task = Task { [weak self] in
            while (try? await Task.sleep(for: pause)) != nil {
                guard let self, await beat(sending, receiving) else { return }
            }
        }
        tasks.withLock { $0.append(task) }
    }

    /// Returns false when the server has been silent for too long.
    private func beat(_ sending: UInt64?, _ receiving: UInt64?) async -> Bool {
        let (sent, received) = state.withLock { ($0.lastSent, $0.lastReceived) }
        let now = ContinuousClock.now
        if let receiving, now - received > .milliseconds(receiving) * 2 {
            state.withLock { $0.isSilent = true }
            await link.close()
            return false
        }
        if let sending, now - sent >= .milliseconds(sending) / 2 { send(bytes: [UInt8(ascii: "\n")]) }
        return true
    }
}

/// Carries the bytes of one connection.
public protocol StompLink: Sendable {
    /// Sends bytes; returns when they have left.
    func send(_ bytes: [UInt8]) async throws(TransportError)
    /// The next bytes, of any length; nil when the server has closed in an orderly way.
    func receive() async throws(TransportError) -> [UInt8]?
    /// Closes the connection; a pending ``receive()`` ends.
    func close() async
}

extension PinnedWebSocket: StompLink {
    /// Sends a binary message.
    public func send(_ bytes: [UInt8]) async throws(TransportError) { try await send(.binary(bytes)) }

    /// The bytes of the next message, text or binary.
    public func receive() async throws(TransportError) -> [UInt8]? {
        let message: Message? = try await receive()
        return switch message {
        case .text(let bytes), .binary(let bytes): bytes
        case nil: nil
        }
    }
}

/// Why a STOMP connection is of no use.
public enum StompConnectionError: Error, Hashable, Sendable {
    /// The connection failed.
    case transport(TransportError)
    /// What the server sends is not STOMP 1.2, or larger than we take.
    case malformed(StompDecodingError)
    /// What we were to send is not a frame.
    case invalidFrame(StompFrameError)
    /// The server answered CONNECT with something else, or speaks another version.
    case notConnected
    /// The server answered CONNECT with this ERROR frame.
    case refused(StompFrame)
    /// The server closed the connection before CONNECTED.
    case closed
    /// The server promised heart-beats and fell silent.
    case silent
}
