// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyPinning
import PinScenarios
import RelyingParty
import SiteServer
import StrictJSON
import Testing

/// A site in its own process, and all data that it holds.
final class RunningSite {
    let name: String
    let port: Int
    private let town: Town
    private let recoveryDelay: Int
    private let options: [String]
    private var server: RunningServer?
    private var recordLength = 0

    /// The host as an argument of `signet sites`.
    var host: String { "localhost:\(port)" }
    /// The file of the roots of its certificate.
    var roots: String { "\(name).roots" }
    /// A pin policy for it.
    var pins: String { "\(name).pins" }

    private init(_ name: String, _ town: Town, recoveryDelay: Int, options: [String]) throws {
        self.name = name
        self.town = town
        self.recoveryDelay = recoveryDelay
        self.options = options
        port = try SilentListener.freePort()
        let genuine = try #require(try PinScenario.all(at: Date()).first { $0.mustPass })
        try town.write(genuine.presented.flatMap { PEMBlock.text($0) }, to: "\(name).pem")
        try town.write(genuine.keyPEM.utf8, to: "\(name).key")
        try town.write(genuine.anchors.flatMap { PEMBlock.text($0) }, to: roots)
        try town.write(genuine.policy().encoded, to: pins)
    }

    /// Runs `body` with sites of these names.
    static func with(
        _ names: [String], in town: Town, recoveryDelay: Int = 0, options: [String] = [],
        _ body: ([RunningSite]) async throws -> Void
    ) async throws {
        let sites = try names.map { try RunningSite($0, town, recoveryDelay: recoveryDelay, options: options) }
        do {
            for site in sites { try await site.start() }
            try await body(sites)
        } catch {
            for site in sites { try await site.stop() }
            throw error
        }
        for site in sites { try await site.stop() }
    }

    /// Has every rule of its pin policy end at a time, and block from then on.
    func endRules(at time: UInt64) throws {
        let policy = try PinPolicy(decoding: town.bytes(pins))
        let rules = try policy.rules.map { rule in
            try PinRule(
                for: rule.pattern, mode: rule.mode, pins: rule.pins, expiry: PinExpiry(time: time, action: .block))
        }
        try town.write(
            PinPolicy(version: policy.version, environment: policy.environment, rules: rules).encoded, to: pins)
    }

    func start() async throws {
        server = try await RunningServer.start(.site, arguments, in: town.folder)
    }

    /// Restarts it with a limit of open files.
    func restart(openFiles: Int) async throws {
        try await stop()
        server = try await RunningServer.start(
            URL(filePath: "/bin/sh"),
            ["-c", "ulimit -n \(openFiles); exec \"$@\"", "sh", Program.site.file.path()] + arguments, in: town.folder)
    }

    private var arguments: [String] {
        [
            "--port", "\(port)", "--certificate", "\(name).pem", "--key", "\(name).key", "--members",
            "\(name).members", "--recovery-delay", "\(recoveryDelay)", "--record", "\(name).record",
        ] + options
    }

    func stop() async throws {
        try await server?.stop()
        server = nil
    }

    /// `signet sites COMMAND HOST` in a home.
    func signet(_ home: String, _ command: String, _ options: String...) async throws -> Exit {
        try await signet(home, command, options)
    }

    func signet(_ home: String, _ command: String, _ options: [String]) async throws -> Exit {
        try await Program.signet.run(
            ["sites", command, host, "--roots", roots, "--home", home] + options, in: town.folder)
    }

    // MARK: The data that it holds

    /// The cards that it was shown, after it has opened the answers.
    func cards() throws -> Holdings {
        var holdings = Holdings()
        for line in String(decoding: try town.bytes("\(name).record"), as: UTF8.self).split(separator: "\n") {
            guard line.hasPrefix("presentation ") else { continue }
            try holdings.add(presentation: try Hex.decode(Array(line.dropFirst("presentation ".count).utf8)))
        }
        return holdings
    }

    /// Every request since the last call, and the database's rows of their senders.
    func news() async throws -> Holdings {
        let record = try town.bytes("\(name).record")
        let text = String(decoding: record[recordLength...], as: UTF8.self)
        recordLength = record.count
        var holdings = Holdings()
        for line in text.split(separator: "\n") {
            let hex = ["body ", "answer "].first { line.hasPrefix($0) }.map { line.dropFirst($0.count) }
            holdings.add(try hex.map { try Hex.decode(Array($0.utf8)) } ?? Array(line.utf8))
        }
        let database = try SiteDatabase(path: town["\(name).members"].path())
        for field in holdings.fields {
            for start in field.indices where field[start] == 2 || field[start] == 3 {
                let key = Array(field[start...].prefix(33))
                if let member = try await database.member(withKey: key) {
                    holdings.fields += [member.account] + member.keys
                }
            }
        }
        return holdings
    }
}

/// Fields that a site holds about a person.
struct Holdings {
    var fields: [[UInt8]] = []

    /// Adds a field; of an answer its account, without the zeros around it.
    mutating func add(_ field: [UInt8]) {
        switch try? SiteAnswer(decoding: field) {
        case .registered(let account), .recovered(let account), .signedIn(let account, _): fields.append(account)
        default: fields.append(field)
        }
    }

    /// Adds a credential, with or without its holder's signature: its signatures and every value in it, but for the second at which it was shown.
    mutating func add(presentation text: [UInt8]) throws {
        for part in text.split(separator: UInt8(ascii: "~")) {
            let pieces = part.split(separator: UInt8(ascii: "."))
            for piece in pieces {
                let bytes = try Base64URL.decode(Array(piece))
                if let value = try? JSONValue(decoding: bytes) { add(value) } else { fields.append(bytes) }
            }
        }
    }

    private mutating func add(_ value: JSONValue) {
        switch value {
        case .string(let text): fields.append((try? Base64URL.decode(text.utf8)) ?? text.utf8)
        case .array(let values): for value in values { add(value) }
        case .object(let object):
            for name in object.names where name != "iat" { object[name].map { add($0) } }
        case .number(let number): fields.append(number.text)
        case .bool, .null: break
        }
    }

    /// Every run of eight bytes in any of them: equal ones are what could link two people.
    var runs: Set<ArraySlice<UInt8>> {
        var runs: Set<ArraySlice<UInt8>> = []
        for field in fields where field.count >= 8 {
            for start in 0...(field.count - 8) { runs.insert(ArraySlice(Array(field[start..<start + 8]))) }
        }
        return runs
    }

    /// The runs that two sites both hold of a person.
    static func linking(_ first: [Holdings], _ second: [Holdings]) -> Set<ArraySlice<UInt8>> {
        first.reduce(Holdings(), +).runs.intersection(second.reduce(Holdings(), +).runs)
    }

    static func + (first: Holdings, second: Holdings) -> Holdings { Holdings(fields: first.fields + second.fields) }
}
