// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@testable import KeyDirectory

@Suite struct EpochPathTests {
    @Test func aPathIsComputedOnceForOneCheckpoint_andAgainForAnother() throws {
        let path = EpochPath()
        var computed = 0
        func ask(_ entry: UInt64, _ size: UInt64) throws(DirectoryError) -> [TreeHash] {
            try path.hashes(of: entry, size: size) { () throws(DirectoryError) in
                computed += 1
                return [.leaf([UInt8(entry), UInt8(size)])]
            }
        }
        for (entry, size, count) in [(6, 7, 1), (6, 7, 1), (6, 9, 2), (8, 9, 3), (8, 9, 3)] as [(UInt64, UInt64, Int)] {
            #expect(try ask(entry, size) == [.leaf([UInt8(entry), UInt8(size)])])
            #expect(computed == count)
        }
    }

    @Test func aPathThatCannotBeComputedIsNotKept() throws {
        let path = EpochPath()
        #expect(throws: DirectoryError.self) {
            try path.hashes(of: 6, size: 7) { () throws(DirectoryError) in throw .stopped }
        }
        #expect(try path.hashes(of: 6, size: 7) { () throws(DirectoryError) in [.leaf([1])] } == [.leaf([1])])
    }
}
