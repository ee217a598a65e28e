// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Reads the header with which a proxy begins a connection, passes on what comes behind it, and leaves. Stands right behind the
/// ``SocketHandler``, below TLS.
package final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private enum State {
        case reading([UInt8])
        case over
        case refused
    }

    private let socket: SocketHandler
    private let admit: (ProxyHeader) -> Limit?
    private let report: (Limit) -> Void
    private var state = State.reading([])

    /// - Parameters:
    ///   - admit: is given the header; a limit that it returns ends the connection.
    ///   - report: is told of the limit that ends it.
    package init(
        _ socket: SocketHandler, admit: @escaping (ProxyHeader) -> Limit?, report: @escaping (Limit) -> Void
    ) {
        self.socket = socket
        self.admit = admit
        self.report = report
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .reading(let before): read(before + unwrapInboundIn(data).readableBytesView, context)
        case .over: context.fireChannelRead(data)
        case .refused: break
        }
    }

    private func read(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        do throws(ProxyHeaderFault) {
            guard let (header, byteCount) = try ProxyHeader.read(bytes) else {
                state = .reading(bytes)
                return
            }
            if let limit = admit(header) { return refuse(limit) }
            state = .over
            if byteCount < bytes.count {
                context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: bytes[byteCount...])))
            }
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } catch { refuse(.proxyHeader) }
    }

    private func refuse(_ limit: Limit) {
        state = .refused
        report(limit)
        socket.close()
    }
}
