// SPDX-License-Identifier: Apache-2.0

import SQLStores
import Testing

@testable import PostgresStores

/// Who waits for a connection, and for how long. No server is needed: a slot is empty until it is used.
struct PoolTests {
    private func failure(_ body: () async throws -> PostgresSlot) async -> (any Error)? {
        do { _ = try await body() } catch { return error }
        return nil
    }

    @Test func whoeverHasNoPatienceIsRefused() async throws {
        let pool = PostgresPool(count: 1, patience: .milliseconds(1))
        let slot = try await pool.take()
        #expect(await failure { try await pool.take() } as? SQLFault == .unavailable(.postgres(state: nil)))
        #expect(throws: SQLFault.unavailable(.postgres(state: nil))) { try pool.takeNow() }
        pool.giveBack(slot)
        #expect(try await pool.take() === slot, "who was refused has taken nothing away")
    }

    @Test func aCancelledWaitIsOver_andTakesNothingAway() async throws {
        let pool = PostgresPool(count: 1, patience: nil)
        let slot = try await pool.take()
        let waiting = Task { try await pool.take() }
        waiting.cancel()
        #expect(await failure { try await waiting.value } is CancellationError)
        pool.giveBack(slot)
        #expect(try await pool.take() === slot)
    }

    @Test func closingRefusesThoseWhoWait() async throws {
        let pool = PostgresPool(count: 1, patience: nil)
        let slot = try await pool.take()
        let waiting = Task { try await pool.take() }
        pool.close()
        #expect(await failure { try await waiting.value } as? SQLFault == .unavailable(.postgres(state: nil)))
        pool.giveBack(slot)
        #expect(throws: SQLFault.self) { try pool.takeNow() }
    }

    /// No count of connections is none at all.
    @Test func thereIsAtLeastOneConnection() throws { _ = try PostgresPool(count: 0, patience: .zero).takeNow() }
}
