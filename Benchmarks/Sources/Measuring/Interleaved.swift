// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One of several pieces of work that are compared.
public struct Candidate {
    /// What it is called in the report.
    public let name: String
    let work: () throws -> Void

    /// A piece of work; `work` does it once.
    public init(_ name: String, _ work: @escaping () throws -> Void) {
        self.name = name
        self.work = work
    }
}

/// How long each candidate took, in nanoseconds of this thread's processor time for one repetition.
public struct Timings {
    /// For each candidate, one figure a round.
    public let rounds: [[Double]]
    /// The candidates' names.
    public let names: [String]

    /// The fastest round of a candidate: what the machine can do when nobody disturbs it.
    public func fastest(_ candidate: Int) -> Double { rounds[candidate].min() ?? .nan }

    /// The median over the rounds of what `ratio` makes of the round's figures.
    public func median(of ratio: ([Double]) -> Double) -> Double {
        let count = rounds.first?.count ?? 0
        return Measuring.median((0..<count).map { round in ratio(rounds.map { $0[round] }) })
    }

    /// Of 1, in how many of the rounds the figures are as `isSo` says.
    public func share(_ isSo: ([Double]) -> Bool) -> Double {
        let count = rounds.first?.count ?? 0
        return Double((0..<count).filter { round in isSo(rounds.map { $0[round] }) }.count) / Double(count)
    }
}

/// Whether the benchmarks are only tried, to see that they still work: `SIGNET_TRY_BENCHMARKS=1`. Their figures mean nothing then.
public let isTried = getenv("SIGNET_TRY_BENCHMARKS") != nil

/// How often something is done: so often, or once when it is only tried.
public func times(_ count: Int) -> Int { isTried ? 1 : count }

/// Runs the candidates in turn, round after round, so that a slow moment of the machine meets them all.
public func interleaved(
    rounds: Int, repetitions: Int, _ candidates: [Candidate]
) throws -> Timings {
    var figures = [[Double]](repeating: [], count: candidates.count)
    for candidate in candidates { try candidate.work() }
    let repetitions = times(repetitions)
    for round in 0..<times(rounds) {
        for place in candidates.indices {
            let index = (place + round) % candidates.count
            let start = threadTime()
            for _ in 0..<repetitions { try candidates[index].work() }
            figures[index].append((threadTime() - start) / Double(repetitions))
        }
    }
    return Timings(rounds: figures, names: candidates.map(\.name))
}

/// The middle one of some figures.
public func median(_ figures: [Double]) -> Double {
    figures.isEmpty ? .nan : figures.sorted()[figures.count / 2]
}

/// Nanoseconds of processor time of this thread: other processes do not count.
public func threadTime() -> Double { time(CLOCK_THREAD_CPUTIME_ID) }

/// Nanoseconds of processor time of this process, all its threads: for work that is handed around.
public func processTime() -> Double { time(CLOCK_PROCESS_CPUTIME_ID) }

/// Nanoseconds of a clock that never goes back: for work that waits for a disk.
public func wallTime() -> Double { time(CLOCK_MONOTONIC) }

private func time(_ clock: clockid_t) -> Double {
    var now = timespec()
    clock_gettime(clock, &now)
    return Double(now.tv_sec) * 1e9 + Double(now.tv_nsec)
}

/// Keeps the compiler from dropping the work that made `value`.
@inline(never) @_optimize(none)
public func keep<Value>(_ value: Value) {}
