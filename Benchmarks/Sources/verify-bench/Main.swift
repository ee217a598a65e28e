// SPDX-License-Identifier: Apache-2.0

import Measuring
import PaperDirectory

/// What verifying costs beside the cryptography that it cannot do without; with a number of labels, what everything
/// that grows with them costs at that size.
@main struct VerifyBench {
    static func main() throws {
        let labels = CommandLine.arguments.dropFirst().first.flatMap { Int($0) }
        if let labels {
            var growth = GrowthCost()
            try growth.report(labels: labels)
        } else {
            try InclusionCost().report()
        }
        let labelCount = labels ?? (isTried ? 1000 : 1_000_000)
        let paper = try PaperLookup(labelCount: labelCount)
        try IndexCost(paper).report()
        try LookupCost(paper).report(labelCount: labelCount)
    }
}
