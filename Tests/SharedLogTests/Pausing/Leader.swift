// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import SQLStores
import SharedLog
import Synchronization
import TransparencyLog

/// A process that leads or would lead, with everything that it acknowledged and showed in the chronicle.
final class Leader: Sendable {
    private struct State {
        var log: DurableLog?
        var end: CandidacyEnd?
        var failure: LogFailure?
        var shows = 0
        var waiting: [(shows: Int, resume: @Sendable () -> Void)] = []
    }

    let name: String
    private let chronicle: Chronicle
    private let state = Mutex(State())

    init(_ name: String, _ chronicle: Chronicle) { (self.name, self.chronicle) = (name, chronicle) }

    /// Its log, if it leads or led.
    var log: DurableLog? { state.withLock { $0.log } }
    /// Why it does not lead.
    var end: CandidacyEnd? { state.withLock { $0.end } }
    /// Why its log has failed.
    var failure: LogFailure? { state.withLock { $0.failure } }

    /// Takes over, and returns when the log that was found is shown. Its clock stands still, as that of a stopped machine may: its lease never
    /// runs out for it.
    ///
    /// - Parameter follower: has followed the log over these engines.
    func lead(
        _ engines: SharedLogEngines, over link: any SQLDatabase, _ configuration: LogConfiguration,
        from follower: LogFollower? = nil
    ) async {
        var configuration = configuration
        configuration.onFatal = { [self] failure in change { $0.failure = failure } }
        configuration.onPublished = { [self] checkpoint in
            if checkpoint.head.size > 0 { chronicle.saw(checkpoint, by: name) }
            change { $0.shows += 1 }
        }
        do throws(CandidacyEnd) {
            let log = try await LogCandidate(engines, holder: name, clock: { .zero }).lead(
                over: link, SharedLogFixture.facts, configuration, from: follower)
            state.withLock { $0.log = log }
            // The first one is that which was published before.
            await wait(forShows: 2)
        } catch { state.withLock { $0.end = error } }
    }

    /// Appends frames of four entries, each after the one before was published.
    ///
    /// - Returns: whether everything was done.
    func write(frames: Range<Int>) async -> Bool {
        guard let log else { return false }
        for frame in frames {
            let entries = (0..<4).map { Array("\(name) \(frame) \($0)".utf8) }
            guard let range = try? await log.append(entries) else { return false }
            chronicle.saw(range, entries)
            guard let shown = try? await log.awaitPublished(size: range.upperBound) else { return false }
            chronicle.saw(shown, by: name)
        }
        return true
    }

    /// Returns when the log has failed.
    func failed() async { await wait(forShows: .max) }

    private func change(_ body: (inout sending State) -> Void) {
        let passed = state.withLock { state in
            body(&state)
            let isOver = state.failure != nil
            let passed = state.waiting.filter { isOver || $0.shows <= state.shows }.map(\.resume)
            state.waiting.removeAll { isOver || $0.shows <= state.shows }
            return passed
        }
        for one in passed { one() }
    }

    private func wait(forShows shows: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting.append((shows, { continuation.resume() })) }
            change { _ in }
        }
    }

    /// Whether it ended as one does that another one has followed, or that lost its engines: everything but a bug, a fork or a damage.
    var hasEndedWell: Bool {
        switch (end, failure) {
        case (.ended(.othersLead), nil), (.ended(.outcomeUnknown), nil), (.fault(.unavailable), nil): true
        case (nil, .leadershipEnded(.superseded)), (nil, .leadershipEnded(.outcomeUnknown)): true
        case (nil, .sharedStore(.unavailable)): true
        default: false
        }
    }
}
