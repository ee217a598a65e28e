// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyPinning
import SeededRandomness
import Testing

@Suite struct PinRuleTests {
    static let keys = (0..<70).map { SPKIPin(hashing: [UInt8($0)]) }
    static let pins = [Pin(keys[0], tier: .root), Pin(keys[1], isBackup: true)]

    static func rule(
        _ pattern: String = "api.example.org", except: [String] = [], mode: PinMode = .enforce, _ pins: [Pin] = pins,
        expiry: PinExpiry? = nil
    ) throws -> PinRule {
        try PinRule(
            for: HostPattern(pattern.utf8), except: except.map { try HostPattern($0.utf8) }, mode: mode, pins: pins,
            expiry: expiry)
    }

    @Test(
        arguments: [
            (PinRuleFault.tooFewPins(0), []), (.tooFewPins(1), [Pin(keys[0])]),
            (.noBackup, [Pin(keys[0]), Pin(keys[1])]),
            (.onlyBackups, [Pin(keys[0], isBackup: true), Pin(keys[1], isBackup: true)]),
            (.duplicatePin, [Pin(keys[0]), Pin(keys[0], tier: .leaf, isBackup: true)]),
            (.tooManyPins(65), keys.prefix(65).map { Pin($0, isBackup: true) }),
        ] as [(PinRuleFault, [Pin])]) func aRuleThatCannotBeRightIsNotMade(fault: PinRuleFault, pins: [Pin])
    {
        #expect(throws: fault) { try Self.rule(mode: .enforce, pins) }
        #expect(throws: fault) { try Self.rule(mode: .reportOnly, pins) }
    }

    @Test(arguments: ["*.org", "**.co.uk", "*.github.io", "**.com", "*.localhost"])
    func aWildcardOverStrangersIsRefused(_ pattern: String) throws {
        let parent = Array(pattern.drop { $0 == "*" }.dropFirst().utf8)
        #expect(throws: PinRuleFault.publicSuffix(parent)) { try Self.rule(pattern) }
    }

    @Test func trustOnlyRule_refusesPins() throws {
        #expect(try Self.rule(mode: .trustOnly, []).pins.isEmpty)
        #expect(throws: PinRuleFault.pinsWithoutEffect) { try Self.rule(mode: .trustOnly, Self.pins) }
    }

    @Test func theReserveMustBeOutsideOfTheChain() throws {
        let rule = try Self.rule()
        #expect(throws: Never.self) { try rule.checkReserve(outside: [Self.keys[0], Self.keys[5]]) }
        #expect(throws: PinRuleFault.backupInUse(Self.keys[1])) { try rule.checkReserve(outside: [Self.keys[1]]) }
    }

    @Test func rule_excludesItsExceptions() throws {
        let rule = try Self.rule("**.example.org", except: ["*.old.example.org"])
        #expect(rule.covers(try ServerName("a.b.example.org".utf8)))
        #expect(!rule.covers(try ServerName("a.old.example.org".utf8)))
    }

    @Test func aKeyMatchesInItsTierOnly() throws {
        let rule = try Self.rule()
        let (root, other) = (Self.keys[0], Self.keys[9])
        #expect(rule.match([other, other, root])?.depth == 2)
        #expect(rule.match([other, root, other]) == nil)
        #expect(rule.match([root, other, other]) == nil)
        #expect(rule.match([root]) == nil)
        #expect(rule.match([Self.keys[1], other])?.tier == .leaf)
        #expect(rule.match([other, Self.keys[1], other])?.tier == .intermediate)
        #expect(rule.match([]) == nil)
    }
}

@Suite struct PinPolicyTests {
    private func policy(_ rules: [PinRule], _ environment: PinPolicy.Environment = .production) throws -> PinPolicy {
        try PinPolicy(version: 3, environment: environment, rules: rules)
    }

    @Test func theNarrowestRuleDecides() throws {
        let rules = try [
            PinRuleTests.rule("**.example.org", mode: .trustOnly, []),
            PinRuleTests.rule("*.example.org", mode: .reportOnly), PinRuleTests.rule("api.example.org"),
            PinRuleTests.rule("**.b.example.org", mode: .reportOnly),
        ]
        let policy = try policy(rules)
        let modes = try ["api.example.org", "x.example.org", "x.y.example.org", "x.b.example.org", "example.com"]
            .map { policy.rule(for: try ServerName($0.utf8))?.mode }
        #expect(modes == [.enforce, .reportOnly, .trustOnly, .reportOnly, nil])
    }

    @Test func policy_refusesImpossibleRules() throws {
        let rule = try PinRuleTests.rule()
        let report = try PinRuleTests.rule(mode: .reportOnly)
        #expect(throws: PinPolicyFault.noRule) { try policy([]) }
        #expect(throws: PinPolicyFault.duplicatePattern) { try policy([rule, report]) }
        #expect(throws: PinPolicyFault.nothingEnforced) { try policy([report]) }
        #expect(try policy([report], .staging).rules == [report])
        let many = try (0..<257).map { try PinRuleTests.rule("h\($0).example.org") }
        #expect(throws: PinPolicyFault.tooManyRules(257)) { try policy(many) }
    }

    static let text = """
        signet-pins/v1
        version 3
        environment production
        proxies record

        host *.example.org
        except old.example.org
        mode enforce
        expires 1798761600 keep
        pin root sha256/C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8M=
        backup any sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM=

        host 127.0.0.1
        mode trust-only

        """

    @Test func aFileReadsBackUnchanged() throws {
        let policy = try PinPolicy(decoding: Array(Self.text.utf8))
        #expect(policy.encoded == Array(Self.text.utf8))
        #expect(policy.rules.count == 2)
        #expect(policy.rules[0].pins[1].isBackup)
        #expect(policy.rules[0].expiry == PinExpiry(time: 1_798_761_600))
    }

    @Test(arguments: [
        ("signet-pins/v1", "signet-pins/v2", PinPolicyTextFault.unknownFormat), ("version 3", "version 03", .line(2)),
        ("version 3", "version", .line(2)), ("production", "productive", .line(3)), ("record", "records", .line(4)),
        ("\n\nhost *", "\nhost *", .line(5)),
        ("*.example", "*.EXAMPLE", .line(6)),
        ("host *.example.org", "host *.e x", .host(line: 6, .invalidCharacter(offset: 1))),
        ("mode enforce", "mode off", .line(8)), ("1798761600 keep", "1798761600 off", .line(9)),
        ("1798761600 keep", "1798761600", .line(9)), ("pin root", "pin top", .line(10)),
        ("root sha256/", "root sha256//", .line(10)),
        ("root sha256/C5", "root sha256/C", .pin(line: 10, .malformed(.invalidPadding))),
        ("backup any", "pin any", .rule(line: 6, .noBackup)), ("mode trust-only\n", "mode trust-only", .line(14)),
        ("mode trust-only\n", "mode trust-only\n\n", .line(16)),
    ]) func aFaultNamesItsLine(part: String, other: String, fault: PinPolicyTextFault) {
        let edited = Self.text.replacing(part, with: other, maxReplacements: 1)
        #expect(throws: fault) { try PinPolicy(decoding: Array(edited.utf8)) }
    }

    @Test func everyMutationIsRefusedOrReadsBackUnchanged() {
        var random = SeededGenerator(seed: 44)
        for _ in 0..<20_000 {
            var bytes = Array(Self.text.utf8)
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &random)], at: index)
                }
            }
            if let policy = try? PinPolicy(decoding: bytes) { #expect(policy.encoded == bytes) }
        }
    }

    @Test func aLongFileIsRefusedUnread() {
        let count = PinPolicy.maximumByteCount + 1
        #expect(throws: PinPolicyTextFault.tooLong(count)) {
            try PinPolicy(decoding: [UInt8](repeating: 10, count: count))
        }
    }
}
