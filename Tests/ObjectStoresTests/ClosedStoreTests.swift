// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import S3Stores
import Testing

/// A process ends its connections to a store of objects, while that says nothing.
struct ClosedStoreTests {
    private func fault(_ body: () async throws -> Void) async -> ObjectFault? {
        do { try await body() } catch { return error as? ObjectFault }
        return nil
    }

    @Test func aWriteUnderWayIsOfUnknownOutcome_andNothingIsAskedAfterwards() async throws {
        try await Lab.run { lab in
            let store = lab.store
            lab.gateway.next(.stall)
            async let put = fault { _ = try await store.put([1], at: "a", .ifAbsent) }
            while lab.gateway.seen.isEmpty { await Task.yield() }
            await store.close()
            #expect(await put == .outcomeUnknown(.connection), "and not of its deadline, a minute later")
            #expect(await fault { _ = try await store.put([1], at: "a", .ifAbsent) } == .refused(.closed))
            #expect(await fault { _ = try await store.get("a") } == .refused(.closed))
            #expect(lab.gateway.seen.count == 1)
        }
    }
}
