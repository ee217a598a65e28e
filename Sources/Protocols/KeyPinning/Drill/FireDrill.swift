// SPDX-License-Identifier: Apache-2.0

/// What happens to a rule's clients when something about the server's certificates changes.
///
/// A rehearsal over keys: nothing is signed or verified.
public struct FireDrill: Hashable, Sendable {
    /// A change to rehearse.
    public enum Event: Hashable, Sendable {
        /// None: what happens today.
        case today
        /// The server's certificate is renewed with another key.
        case leafRenewed
        /// The authority at this depth of the path changes its key, and the server's certificate is renewed too.
        case authorityRotated(SPKIPin)
        /// Devices stop trusting this root.
        case rootRemoved(SPKIPin)
        /// The server moves to the keys in reserve: one stands where the rule says.
        case movedToReserve
    }

    /// An event and what it comes to.
    public struct Row: Hashable, Sendable {
        /// The event.
        public let event: Event
        /// The key by which clients still get through; nil when they are locked out.
        public let match: PinMatch?
    }

    /// The rows: today first.
    public let rows: [Row]

    /// Rehearses every change of a chain.
    ///
    /// - Parameters:
    ///   - rule: the rule for the server's host.
    ///   - paths: the keys of every trusted path of today's chain, the server's own first.
    public init(_ rule: PinRule, paths: [[SPKIPin]]) {
        let stranger = SPKIPin(hashing: [])
        func first(_ paths: [[SPKIPin]]) -> PinMatch? { paths.lazy.compactMap { rule.match($0) }.first }
        func renewed(_ paths: [[SPKIPin]]) -> [[SPKIPin]] { paths.map { [stranger] + $0.dropFirst() } }
        var rows = [Row(event: .today, match: first(paths)), Row(event: .leafRenewed, match: first(renewed(paths)))]
        let authorities = Self.unique(paths.flatMap { $0.dropFirst().dropLast() })
        for key in authorities {
            let rotated = renewed(paths).map { path in path.map { $0 == key ? stranger : $0 } }
            rows.append(Row(event: .authorityRotated(key), match: first(rotated)))
        }
        for key in Self.unique(paths.compactMap(\.last)) {
            rows.append(Row(event: .rootRemoved(key), match: first(paths.filter { $0.last != key })))
        }
        let reserve = rule.pins.first { pin in pin.isBackup && !paths.contains { $0.contains(pin.key) } }
        rows.append(
            Row(event: .movedToReserve, match: reserve.map { PinMatch(pin: $0, tier: $0.tier ?? .leaf, depth: 0) }))
        self.rows = rows
    }

    /// Whether every event leaves a way in.
    public var isSurvived: Bool { rows.allSatisfy { $0.match != nil } }

    private static func unique(_ keys: [SPKIPin]) -> [SPKIPin] {
        keys.reduce(into: []) { found, key in if !found.contains(key) { found.append(key) } }
    }
}
