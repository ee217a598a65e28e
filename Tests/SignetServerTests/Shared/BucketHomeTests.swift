// SPDX-License-Identifier: Apache-2.0

import ObjectTesting
import Testing

@testable import SignetServer

/// A bucket that is not the one to which the directory was moved looks like one that was emptied.
struct BucketHomeTests {
    @Test func aBucketKeepsItsMark() async throws {
        let home = BucketHome(MemoryObjects())
        let mark = try await home.make()
        #expect(mark.utf8.count == 32)
        #expect(try await home.make() == mark)
        #expect(await !home.isMissing(mark))
        #expect(try await home.putBack(mark))
    }

    @Test func anotherBucketIsNotTheOne() async throws {
        let (home, other, empty) = (
            BucketHome(MemoryObjects()), BucketHome(MemoryObjects()), BucketHome(MemoryObjects())
        )
        let mark = try await home.make()
        _ = try await other.make()
        #expect(await other.isMissing(mark))
        #expect(try await !other.putBack(mark))
        #expect(await empty.isMissing(mark))
        // The operator says that it was emptied.
        #expect(try await empty.putBack(mark))
        #expect(await !empty.isMissing(mark))
    }
}
