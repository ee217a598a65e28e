// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Telemetry
import TransparencyLog

/// The last checkpoint that each witness with an address in the policy cosigned.
///
/// A round ends when the quorum is met, so a witness that always answers later seems never to have cosigned.
package final class WitnessProgress: MetricSource {
    private struct Last: Sendable {
        var size: UInt64 = 0
        var time: UInt64 = 0
    }

    private let last: Mutex<[Policy.Name: Last]>

    init(_ policy: Policy) {
        let names = policy.witnesses.filter { $0.url != nil }.map(\.name)
        last = Mutex(Dictionary(names.map { ($0, Last()) }) { first, _ in first })
    }

    /// Records that a witness cosigned a checkpoint of this size at this time. Rounds may overlap, so a smaller
    /// checkpoint is ignored.
    func cosigned(_ name: Policy.Name, size: UInt64, at time: UInt64) {
        last.withLock { last in
            guard let known = last[name], size >= known.size else { return }
            last[name] = Last(size: size, time: max(known.time, time))
        }
    }

    package func samples() -> [MetricSample] {
        last.withLock { $0 }.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }.flatMap { name, last in
            let label = ("witness", String(decoding: name.bytes, as: UTF8.self))
            return [MetricSample(.witnessedEntries, last.size, label), MetricSample(.witnessedTime, last.time, label)]
        }
    }
}
