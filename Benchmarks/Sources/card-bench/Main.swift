// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What cards and common contacts cost.
///
/// usage: card-bench FILE: also writes the presentations as cases of the schema that `signet-vectors sd-jwt-vc` reads, for the peers of
/// `Benchmarks/cards.py`. card-bench --again FILE TIMES: prints the milliseconds of one verification of the first of them.
@main struct CardBench {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        if words.count == 3, words.first == "--again", let count = words.last.flatMap({ Int($0) }), count > 0 {
            let cases = try Data(contentsOf: URL(filePath: words[words.startIndex + 1]))
            let milliseconds = try ShownCredential.again(Array(cases), count)
            return print(milliseconds)
        }
        guard words.count == 1 else {
            FileHandle.standardError.write(Data("usage: card-bench FILE | --again FILE TIMES\n".utf8))
            exit(64)
        }
        let small = try ShownCredential(claims: 1, shown: 1)
        let large = try ShownCredential(claims: 64, shown: 22)
        try VerificationCost.measure(small, large)
        try StatusListCost.measure()
        #if os(Linux)
            try ContactCost.measure()
        #endif
        let cases = "[\(small.vector),\(large.vector)]\n"
        try Data(cases.utf8).write(to: URL(filePath: words[words.startIndex]))
    }
}
