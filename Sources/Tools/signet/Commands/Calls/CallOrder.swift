import CallClient
import CallSignalling
import Foundation
import SignetClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a person types while in a call: `remove HANDLE` and `readmit HANDLE`, or `HANDLE/2` for the second device alone.
enum CallOrder: Hashable {
    case remove([CallDevice])
    case readmit([CallDevice])

    /// - Returns: nil if the line is none, or names nobody with whom the call is.
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

/// Lines from standard input, until it ends. A call in the background reads none.
struct TypedLines {
    let lines: AsyncStream<String>

    init() {
        let (lines, typed) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        signal(SIGTTIN, SIG_IGN)
        Thread.detachNewThread {
            while let line = readLine() { typed.yield(line) }
            typed.finish()
        }
    }
}
