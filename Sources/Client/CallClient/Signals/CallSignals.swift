// SPDX-License-Identifier: Apache-2.0

public import CallSignalling

/// The way that signals take between devices: a relay that passes them on, or a test.
///
/// Signals may come twice and in any order; none is believed before it is verified.
public protocol CallSignals: Sendable {
    /// What arrives for this device and in its call: bytes that claim to be a `Signal`. For one reader. It ends when nothing can
    /// arrive any more.
    var incoming: AsyncStream<[UInt8]> { get }
    /// Hands a signal over. Returns at once; what cannot be delivered now is tried again for as long as it is of use.
    func send(_ signal: Signal)
    /// Lets these devices into the call. Only of use where a relay keeps a list.
    func invite(_ devices: [CallDevice]) async
    /// Takes these devices out of the call, and does not let them in again. Only of use where a relay keeps a list.
    func remove(_ devices: [CallDevice]) async
    /// Waits a little for what was handed over, and goes.
    func close() async
}
