// SPDX-License-Identifier: Apache-2.0

import PinnedHTTP
import SignetClient

/// Load for a cluster that is broken meanwhile, by `Scripts/cluster-rounds` and `Scripts/cluster-faults`: people who register and change
/// their accounts, and people who look them up, over the network, until standard input ends.
///
///     cluster-bench DIRECTORY-FILE NAME WRITERS LOOKERS
///
/// The name begins every handle. It prints a line for each thing that happens:
///
///     acknowledged HANDLE VERSION INDEX MS   a state is in a published log, at this index, so long after it was first sent
///     again HANDLE ERROR                     an attempt failed, and is repeated
///     found MS                               a lookup was answered, and verified
///     unfound HANDLE MS ERROR                it was not
///     evidence COUNT                         somebody has proof that the directory signed what contradicts itself
///
/// A line `check` on standard input has everything that was acknowledged since the last one looked up by somebody who has seen nothing
/// yet, and `check all` everything: `missing HANDLE VERSION ERROR` for what is not there, and `checked COUNT` at the end.
@main struct ClusterBench {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 4, let writers = Int(arguments[2]), let lookers = Int(arguments[3]) else {
            throw Usage()
        }
        let profile = try HomeFolder.profile(in: DurableFile(path: arguments[0]))
        let crowd = Crowd(profile: profile, name: arguments[1])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<writers { group.addTask { await crowd.write(number) } }
            for _ in 0..<lookers { group.addTask { await crowd.look() } }
            for await line in Lines.ofStandardInput() where line.hasPrefix("check") {
                await crowd.check(isWhole: line == "check all")
            }
            group.cancelAll()
        }
    }
}

/// The arguments are not understood: the comment above says what they may be.
struct Usage: Error {}
