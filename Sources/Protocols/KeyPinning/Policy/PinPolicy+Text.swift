// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// The policy file: ASCII, one line each, the lines of a rule in this order.
///
/// ```
/// signet-pins/v1
/// version 3
/// environment production
/// proxies record
///
/// host *.example.org
/// except old.example.org
/// mode enforce
/// expires 1798761600 keep
/// pin root sha256/C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8M=
/// backup leaf sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM=
/// ```
/// `except` and `expires` may be missing; tiers are `any`, `root`, `intermediate` and `leaf`; `expires` is followed by
/// `keep` or `block`. What was read is written back unchanged.
extension PinPolicy {
    /// No file is longer, in bytes.
    public static let maximumByteCount = 1_048_576

    /// The file.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-pins/v1\nversion ")
        writer.write(Decimal.encode(version))
        writer.write("\nenvironment ")
        writer.write(environment.word)
        writer.write("\nproxies ")
        writer.write(proxies.word)
        writer.write("\n")
        for rule in rules { rule.write(to: &writer) }
        return writer.bytes
    }

    /// Reads a file.
    ///
    /// - Throws: ``PinPolicyTextFault``: with the line.
    public init(decoding bytes: [UInt8]) throws(PinPolicyTextFault) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        var lines = PolicyLines(bytes)
        guard try lines.next() == Array("signet-pins/v1".utf8)[...] else { throw .unknownFormat }
        guard let version = try? Decimal.decode(try lines.value("version")) else { throw lines.malformed }
        let environment = try lines.word("environment", Environment.allCases, \.word)
        let proxies = try lines.word("proxies", ProxyRule.allCases, \.word)
        var rules: [PinRule] = []
        while !lines.isAtEnd { rules.append(try PinRule(&lines)) }
        do {
            try self.init(version: version, environment: environment, proxies: proxies, rules: rules)
        } catch { throw .policy(error) }
    }
}

/// What is wrong with a policy file. Lines count from 1.
public enum PinPolicyTextFault: Error, Hashable, Sendable {
    /// More than ``PinPolicy/maximumByteCount`` bytes.
    case tooLong(Int)
    /// The first line is not `signet-pins/v1`.
    case unknownFormat
    /// This line is missing, out of order, or not what the format has here.
    case line(Int)
    /// The pin at this line is none.
    case pin(line: Int, PinTextFault)
    /// The host at this line is none.
    case host(line: Int, ServerNameFault)
    /// The rule that begins at this line cannot be right.
    case rule(line: Int, PinRuleFault)
    /// The policy cannot be right.
    case policy(PinPolicyFault)
}

extension PinRule {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write("\nhost ")
        writer.write(pattern.text)
        for exclusion in exclusions {
            writer.write("\nexcept ")
            writer.write(exclusion.text)
        }
        writer.write("\nmode ")
        writer.write(mode.word)
        if let expiry {
            writer.write("\nexpires ")
            writer.write(Decimal.encode(expiry.time) + [UInt8(ascii: " ")] + expiry.action.word)
        }
        for pin in pins {
            writer.write(pin.isBackup ? "\nbackup " : "\npin ")
            writer.write(pin.text)
        }
        writer.write("\n")
    }

    fileprivate init(_ lines: inout PolicyLines) throws(PinPolicyTextFault) {
        guard try lines.next().isEmpty else { throw lines.malformed }
        let pattern = try lines.host("host")
        let start = lines.number
        var exclusions: [HostPattern] = []
        while lines.nextIs("except") { exclusions.append(try lines.host("except")) }
        let mode = try lines.word("mode", PinMode.allCases, \.word)
        let expiry = lines.nextIs("expires") ? try lines.expiry() : nil
        var pins: [Pin] = []
        while lines.nextIs("pin") || lines.nextIs("backup") { pins.append(try lines.pin()) }
        do {
            try self.init(for: pattern, except: exclusions, mode: mode, pins: pins, expiry: expiry)
        } catch { throw .rule(line: start, error) }
    }
}

/// The lines of a file, each ended by one line feed.
private struct PolicyLines {
    private let bytes: [UInt8]
    private var position = 0
    private(set) var number = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }
    var malformed: PinPolicyTextFault { .line(number) }

    mutating func next() throws(PinPolicyTextFault) -> ArraySlice<UInt8> {
        number += 1
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else { throw malformed }
        defer { position = end + 1 }
        return bytes[position..<end]
    }

    func nextIs(_ name: String) -> Bool { bytes[position...].starts(with: Array(name.utf8) + [0x20]) }

    mutating func value(_ name: String) throws(PinPolicyTextFault) -> ArraySlice<UInt8> {
        let isIt = nextIs(name)
        let line = try next()
        guard isIt else { throw malformed }
        return line.dropFirst(name.utf8.count + 1)
    }

    mutating func word<Value>(
        _ name: String, _ values: [Value], _ spelling: (Value) -> [UInt8]
    ) throws(PinPolicyTextFault) -> Value {
        let text = try value(name)
        guard let found = values.first(where: { spelling($0)[...] == text }) else { throw malformed }
        return found
    }

    mutating func host(_ name: String) throws(PinPolicyTextFault) -> HostPattern {
        let text = try value(name)
        let pattern: HostPattern
        do { pattern = try HostPattern(text) } catch { throw .host(line: number, error) }
        guard pattern.text[...] == text else { throw malformed }
        return pattern
    }

    mutating func expiry() throws(PinPolicyTextFault) -> PinExpiry {
        let text = try value("expires")
        let parts = try pair(text)
        guard let time = try? Decimal.decode(parts.0),
            let action = PinExpiry.Action.allCases.first(where: { $0.word[...] == parts.1 })
        else { throw malformed }
        return PinExpiry(time: time, action: action)
    }

    mutating func pin() throws(PinPolicyTextFault) -> Pin {
        let isBackup = nextIs("backup")
        let text = try value(isBackup ? "backup" : "pin")
        do { return try Pin(text, isBackup: isBackup) } catch {
            switch error {
            case .malformed: throw malformed
            case .pin(let fault): throw .pin(line: number, fault)
            }
        }
    }

    private func pair(
        _ text: ArraySlice<UInt8>
    ) throws(PinPolicyTextFault) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        guard let space = text.firstIndex(of: 0x20) else { throw malformed }
        return (text[..<space], text[(space + 1)...])
    }
}
