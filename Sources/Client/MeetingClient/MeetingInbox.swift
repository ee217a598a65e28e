// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// Reads the messages of one connection: u16 length and bytes. It keeps no more than a meeting has, and ends a connection that sends more.
final class MeetingInbox: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private struct State {
        var rest: [UInt8] = []
        var messages: [[UInt8]] = []
        var count = 0
        var limits = MeetingLink.Limits.beforeMeeting
        var end: MeetingLinkError?
        var waiter: CheckedContinuation<Result<[UInt8], MeetingLinkError>, Never>?
    }

    private let state = Mutex(State())

    /// The next message; the caller waits for one at a time.
    func next() async -> Result<[UInt8], MeetingLinkError> {
        await withCheckedContinuation { waiter in
            let found: Result<[UInt8], MeetingLinkError>? = state.withLock { state in
                if !state.messages.isEmpty { return .success(state.messages.removeFirst()) }
                if let end = state.end { return .failure(end) }
                state.waiter = waiter
                return nil
            }
            if let found { waiter.resume(returning: found) }
        }
    }

    /// Takes more and longer messages from now on.
    func take(_ limits: MeetingLink.Limits) { state.withLock { $0.limits = limits } }

    /// Ends the inbox; what has come before can still be read.
    func end(_ error: MeetingLinkError) {
        let waiter = state.withLock { state in
            state.end = state.end ?? error
            return state.waiter.take()
        }
        waiter?.resume(returning: .failure(error))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        var delivered: (CheckedContinuation<Result<[UInt8], MeetingLinkError>, Never>, [UInt8])?
        let isTooMuch = state.withLock { state in
            guard state.end == nil else { return false }
            state.rest += bytes
            while let message = Self.message(&state.rest, state.limits) {
                state.count += 1
                guard state.count <= state.limits.messageCount else { return true }
                if let waiter = state.waiter.take() {
                    delivered = (waiter, message)
                } else {
                    state.messages.append(message)
                }
            }
            return state.rest.count >= 2 && Self.length(state.rest) > state.limits.messageByteCount
        }
        if let (waiter, message) = delivered { waiter.resume(returning: .success(message)) }
        guard isTooMuch else { return }
        end(.tooMuch)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { end(.closed) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.closed)
        context.close(promise: nil)
    }

    private static func length(_ bytes: [UInt8]) -> Int { Int(bytes[0]) << 8 | Int(bytes[1]) }

    private static func message(_ bytes: inout [UInt8], _ limits: MeetingLink.Limits) -> [UInt8]? {
        guard bytes.count >= 2 else { return nil }
        let end = 2 + length(bytes)
        guard end - 2 <= limits.messageByteCount, bytes.count >= end else { return nil }
        defer { bytes.removeFirst(end) }
        return Array(bytes[2..<end])
    }
}
