// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SQLStores

/// How many rows are divided among statements.
struct SQLManyTests {
    @Test func everyRowIsInOneStatement_ofSevenForms() {
        var sizes: Set<Int> = []
        for count in 0...300 {
            let pieces = SQLTransaction.pieces(of: count)
            #expect(pieces.flatMap { Array($0) } == Array(0..<count))
            sizes.formUnion(pieces.map(\.count))
        }
        #expect(sizes == [1, 2, 4, 8, 16, 32, 64])
    }
}
