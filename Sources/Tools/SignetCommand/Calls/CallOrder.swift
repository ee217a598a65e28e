// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Foundation
import Platform
import Signet
import SignetCalls
import Synchronization

/// What a person types while in a call: `remove HANDLE` and `readmit HANDLE`, or `HANDLE/2` for the second device alone.
enum CallOrder: Hashable {
    case remove([CallDevice])
    case readmit([CallDevice])

    /// - Returns: nil if the line is not an order, or names no participant of the call.
    init?(_ line: String, _ people: CallPeople) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2 else { return nil }
        let devices = people.devices.filter { Self.name(words[1], people[$0]) }.sorted()
        guard !devices.isEmpty else { return nil }
        switch words[0] {
        case "remove": self = .remove(devices)
        case "readmit": self = .readmit(devices)
        default: return nil
        }
    }

    private static func name(_ word: String, _ person: CallPerson?) -> Bool {
        guard let person else { return false }
        return word == "\(person.handle)" || word == "\(person.handle)/\(person.deviceNumber)"
    }

    func carryOut(_ call: GroupCall) async {
        switch self {
        case .remove(let devices): for device in devices { await call.exclude(device) }
        case .readmit(let devices): for device in devices { await call.readmit(device) }
        }
    }
}

/// Lines from standard input, for the last reader that asked. A program in the background reads none.
final class TypedLines: Sendable {
    static let standard = TypedLines()

    private struct State {
        var reader: AsyncStream<String>.Continuation?
        var isOver = false
        var isRead = false
    }

    private let state = Mutex(State())

    /// The lines from now on, until standard input ends or another reader asks for them.
    func lines() -> AsyncStream<String> {
        let (lines, typed) = AsyncStream.makeStream(of: String.self)
        let isFirst = state.withLock { state in
            state.reader?.finish()
            state.reader = typed
            if state.isOver { typed.finish() }
            defer { state.isRead = true }
            return !state.isRead
        }
        if isFirst {
            signal(SIGTTIN, SIG_IGN)
            Thread.detachNewThread { self.read() }
        }
        return lines
    }

    private func read() {
        while let line = readLine() { state.withLock { $0.reader }?.yield(line) }
        state.withLock { state in
            state.isOver = true
            state.reader?.finish()
        }
    }
}
