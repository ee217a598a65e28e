// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// The logs that a witness serves, each with its origin, its keys and how often it may ask.
public struct WitnessedLogs: Hashable, Sendable {
    /// A key of a log. A log with several keys has several of these with one origin.
    public struct Entry: Hashable, Sendable {
        /// What signs the log's checkpoints, of algorithm ``VerifierKey/Algorithm/ed25519`` or ``VerifierKey/Algorithm/mlDSA44``.
        public let key: VerifierKey
        /// The first line of the log's checkpoints: UTF-8, no LF, no space at either end.
        public let origin: [UInt8]
        /// How many requests a day the log may make; nil for any number.
        public let requestsPerDay: UInt64?
        /// How to reach the log's operator: UTF-8, no LF, no space at either end.
        public let contact: [UInt8]?

        /// An entry; without `origin` the key's name is the origin.
        public init(
            key: VerifierKey, origin: [UInt8]? = nil, requestsPerDay: UInt64? = nil, contact: [UInt8]? = nil
        ) {
            self.key = key
            self.origin = origin ?? key.name.bytes
            self.requestsPerDay = requestsPerDay
            self.contact = contact
        }
    }

    /// The entries in order.
    public let entries: [Entry]
    private let keys: [[UInt8]: [VerifierKey]]

    /// Logs in order.
    ///
    /// - Throws: ``WitnessedLogsError``: an entry that a list cannot hold; its line numbers count the entries
    ///   from one.
    public init(_ entries: [Entry]) throws(WitnessedLogsError) {
        var keys: [[UInt8]: [VerifierKey]] = [:]
        for (offset, entry) in entries.enumerated() {
            if let fault = entry.fault { throw .line(offset + 1, fault) }
            guard keys[entry.origin]?.contains(entry.key) != true else { throw .line(offset + 1, .duplicateKey) }
            keys[entry.origin, default: []].append(entry.key)
        }
        self.entries = entries
        self.keys = keys
    }

    /// The keys that are trusted for an origin; nil when no log has it.
    public func keys(ofOrigin origin: [UInt8]) -> [VerifierKey]? { keys[origin] }

    /// How many requests a day a log may make, over its entries the most; nil for any number.
    public func requestsPerDay(ofOrigin origin: [UInt8]) -> UInt64? {
        var most: UInt64 = 0
        for entry in entries where entry.origin == origin {
            guard let requests = entry.requestsPerDay else { return nil }
            most = max(most, requests)
        }
        return most
    }

    /// Where below its monitoring prefix a witness shows the latest checkpoint of a log: the lower-case hexadecimal
    /// SHA-256 of the origin, `/checkpoint`.
    ///
    /// Spec: C2SP tlog-witness v1.0.0, "Monitor Retrieval Mechanism".
    public static func monitoringPath(ofOrigin origin: [UInt8]) -> [UInt8] {
        Hex.encode(Array(SHA256.hash(data: origin))) + Array("/checkpoint".utf8)
    }
}

extension WitnessedLogs.Entry {
    /// What keeps the entry out of a list.
    var fault: WitnessedLogsFault? {
        guard key.algorithm == .ed25519 || key.algorithm == .mlDSA44 else { return .keyOfOtherRole }
        guard Self.isLine(origin), contact.map(Self.isLine) ?? true else { return .malformedText }
        guard requestsPerDay != 0 else { return .malformedRate }
        return nil
    }

    private static func isLine(_ text: [UInt8]) -> Bool {
        guard let first = text.first, let last = text.last, first != 0x20, last != 0x20 else { return false }
        guard (try? UnicodeText.check(text.span)) != nil else { return false }
        return !text.contains(0x0A)
    }
}
