// SPDX-License-Identifier: Apache-2.0

/// Where inboxes and calls outlive a hub.
package protocol SignalStoring: Sendable {
    /// All that was written.
    ///
    /// - Throws: ``SignalStoreError``.
    func read() throws(SignalStoreError) -> (kept: [KeptSignal], calls: [CallRecord])
    /// Writes actions in one transaction; returns when they are durable.
    ///
    /// - Throws: ``SignalStoreError``; nothing was written.
    func write(_ actions: [BrokerAction]) async throws(SignalStoreError)
    /// Nothing more will be asked.
    func close()
}

extension SignalStore: SignalStoring {}
