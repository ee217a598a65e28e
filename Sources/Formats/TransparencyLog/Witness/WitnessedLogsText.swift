// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Why bytes are not a list of logs. The file must be mended; none is worth a retry.
public enum WitnessedLogsError: Error, Hashable, Sendable {
    /// More than ``WitnessedLogs/maximumByteCount`` bytes.
    case tooLong(byteCount: Int)
    /// The last line does not end in LF.
    case lineNotTerminated
    /// The first line that counts is not `logs/v0`.
    case unknownHeader
    /// A line, counted from one, that does not stand.
    case line(Int, WitnessedLogsFault)
}

/// What is wrong with a line of a list of logs.
public enum WitnessedLogsFault: Error, Hashable, Sendable {
    /// The first word is none of vkey, origin, qpd and contact.
    case unknownKeyword
    /// Not a verifier key.
    case key(VerifierKeyError)
    /// The key is a witness's and not a log's.
    case keyOfOtherRole
    /// The origin has this key already.
    case duplicateKey
    /// No `vkey` line stands above.
    case keyMissing
    /// The log has such a line already.
    case secondLine
    /// Empty, not UTF-8, a control character, or a space at an end.
    case malformedText
    /// Not a whole number from one to 2^64 - 1 in its one decimal form.
    case malformedRate
}

/// Spec: transparency-dev/witness-network, "log-list-format"; as there, a line is trimmed and `#` begins a
/// comment line. Rates are whole numbers here.
extension WitnessedLogs {
    /// The longest list we read, in bytes.
    public static let maximumByteCount = 1 << 22

    /// Reads a list of logs. Comment lines and empty lines are not kept.
    ///
    /// - Throws: ``WitnessedLogsError``, with the number of the first line that does not stand.
    public init(decoding text: [UInt8]) throws(WitnessedLogsError) {
        guard text.count <= Self.maximumByteCount else { throw .tooLong(byteCount: text.count) }
        guard text.last == 0x0A else { throw .lineNotTerminated }
        var draft = WitnessedLogsDraft()
        let lines = text.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false)
        for (offset, line) in lines.enumerated() {
            let line = line.trimmed
            guard !line.isEmpty, line.first != UInt8(ascii: "#") else { continue }
            try draft.add(line, number: offset + 1)
        }
        self = try draft.finish()
    }

    /// The canonical text: the header, then for each entry an empty line, its key, its origin where that is not
    /// the key's name, its rate and its contact.
    public var encoded: [UInt8] {
        entries.reduce(into: WitnessedLogsDraft.header + [0x0A]) { text, entry in
            text += Array("\nvkey ".utf8) + entry.key.encoded + [0x0A]
            if entry.origin != entry.key.name.bytes { text += Array("origin ".utf8) + entry.origin + [0x0A] }
            if let rate = entry.requestsPerDay { text += Array("qpd ".utf8) + Decimal.encode(rate) + [0x0A] }
            if let contact = entry.contact { text += Array("contact ".utf8) + contact + [0x0A] }
        }
    }
}

/// A list line by line.
private struct WitnessedLogsDraft {
    static let header = Array("logs/v0".utf8)

    private struct Open {
        let line: Int
        let key: VerifierKey
        var origin: [UInt8]?
        var rate: UInt64?
        var contact: [UInt8]?

        var entry: WitnessedLogs.Entry { .init(key: key, origin: origin, requestsPerDay: rate, contact: contact) }
    }

    private var hasHeader = false
    private var entries: [Open] = []

    mutating func add(_ line: ArraySlice<UInt8>, number: Int) throws(WitnessedLogsError) {
        guard hasHeader else {
            guard line == Self.header[...] else { throw .unknownHeader }
            hasHeader = true
            return
        }
        let end = line.firstIndex(of: 0x20) ?? line.endIndex
        do throws(WitnessedLogsFault) {
            try add(Array(line[..<end]), Array(line[end...].trimmed), number)
        } catch {
            throw .line(number, error)
        }
    }

    private mutating func add(
        _ keyword: [UInt8], _ value: [UInt8], _ number: Int
    ) throws(WitnessedLogsFault) {
        if keyword == Array("vkey".utf8) { return entries.append(Open(line: number, key: try key(value))) }
        guard var entry = entries.popLast() else { throw .keyMissing }
        switch keyword {
        case Array("origin".utf8): try set(&entry.origin, to: value)
        case Array("qpd".utf8): try set(&entry.rate, to: try rate(value))
        case Array("contact".utf8): try set(&entry.contact, to: value)
        default: throw .unknownKeyword
        }
        entries.append(entry)
    }

    /// The faults of whole entries stand at their `vkey` lines.
    func finish() throws(WitnessedLogsError) -> WitnessedLogs {
        guard hasHeader else { throw .unknownHeader }
        do throws(WitnessedLogsError) {
            return try WitnessedLogs(entries.map(\.entry))
        } catch {
            guard case .line(let number, let fault) = error else { throw error }
            throw .line(entries[number - 1].line, fault)
        }
    }

    private func set<Value>(_ field: inout Value?, to value: Value) throws(WitnessedLogsFault) {
        guard field == nil else { throw .secondLine }
        field = value
    }

    private func rate(_ text: [UInt8]) throws(WitnessedLogsFault) -> UInt64 {
        guard let rate = try? Decimal.decode(text) else { throw .malformedRate }
        return rate
    }

    private func key(_ text: [UInt8]) throws(WitnessedLogsFault) -> VerifierKey {
        do throws(VerifierKeyError) { return try VerifierKey(decoding: text) } catch { throw .key(error) }
    }
}

extension ArraySlice<UInt8> {
    /// Without spaces at its ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        let start = drop { $0 == 0x20 }
        guard let last = start.lastIndex(where: { $0 != 0x20 }) else { return [] }
        return start[...last]
    }
}
