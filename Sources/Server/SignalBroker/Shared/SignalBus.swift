// SPDX-License-Identifier: Apache-2.0

/// Carries bytes between the front ends of a directory. It may lose, repeat, reorder, change and invent them: what it carries is sealed, and
/// whatever is not the next message ends the channel that it was for.
package protocol SignalBus: Sendable {
    /// Sends bytes to a front end, after those before. Never waits; without a connection they are lost.
    ///
    /// - Parameter name: 16 bytes.
    func send(_ bytes: [UInt8], to name: [UInt8])
    /// Connects, again and again, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - name: under which others send to this front end; 16 bytes.
    ///   - receive: gets what others send, one after the other, in the order of arrival.
    ///   - onChange: told whether there is a connection. What was sent before it broke may be lost.
    func run(
        as name: [UInt8], receive: @escaping @Sendable ([UInt8]) -> Void,
        onChange: @escaping @Sendable (_ isConnected: Bool) -> Void
    ) async
}
