// SPDX-License-Identifier: Apache-2.0

import Measuring

/// What replaying a log costs an auditor, beside the hashing that it cannot do without; at the numbers of labels that are
/// given, or at three.
@main struct AuditBench {
    static func main() throws {
        let given = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        let standard: [UInt64] = isTried ? [1000] : [10_000, 100_000, 1_000_000]
        for labels in given.isEmpty ? standard : given { try ReplayCost(labels: labels).report() }
    }
}
