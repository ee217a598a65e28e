// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Testing
import TransparencyLog

struct PolicyTests {
    static func key(
        _ seed: UInt8, _ algorithm: VerifierKey.Algorithm, name: String = "key.example"
    ) throws -> String {
        let key = try VerifierKey(
            name: keyName(name), algorithm: algorithm, publicKey: [UInt8](repeating: seed, count: 32))
        return String(decoding: key.encoded, as: UTF8.self)
    }

    func read(_ text: String) throws -> Policy { try Policy(decoding: Array(text.utf8)) }

    @Test func aPolicyIsReadWithCommentsTabsAndEmptyLines() throws {
        let log = try Self.key(1, .ed25519), a = try Self.key(2, .cosignatureV1),
            b = try Self.key(3, .cosignatureV1)
        let second = try Self.key(4, .ed25519)
        let policy = try read(
            "# a comment with \u{E9}\n\t # another\n\n\tlog\t \(log)   https://log.example/\t\nwitness  A\t\(a)\n"
                + "witness B \(b) https://b.example/ \n \t \ngroup all 2 A B\nquorum all\nlog \(second)\n")
        #expect(policy.logs.count == 2)
        #expect(policy.listedLogs[0].url == Array("https://log.example/".utf8))
        #expect(policy.listedLogs[1].url == nil)
        #expect(policy.witnesses.map(\.name.bytes) == [Array("A".utf8), Array("B".utf8)])
        #expect(policy.witnesses.map(\.url) == [nil, Array("https://b.example/".utf8)])
        #expect(policy.groups.map(\.threshold) == [2])
        let canonical = """
            log \(log) https://log.example/
            log \(second)
            witness A \(a)
            witness B \(b) https://b.example/
            group all all A B
            quorum all

            """
        #expect(policy.encoded == Array(canonical.utf8))
        #expect(try Policy(decoding: policy.encoded) == policy)
    }

    @Test func aPolicyNeedsNothingButAQuorum() throws {
        #expect(try read("quorum none\n").logs.isEmpty)
        #expect(throws: PolicyError.quorumMissing) { try read("") }
        #expect(throws: PolicyError.quorumMissing) { try read("# quorum none\n") }
    }

    @Test func eachMalformedPolicyLineHasItsReason() throws {
        let log = try Self.key(1, .ed25519), other = try Self.key(1, .ed25519, name: "other.example")
        let w = try Self.key(2, .cosignatureV1), v = try Self.key(3, .cosignatureV1)
        let wRenamed = try Self.key(2, .cosignatureV1, name: "other.example")
        let two = "witness W \(w)\nwitness V \(v)\n"
        let cases: [(String, Int, PolicyLineFault)] = [
            ("quorum none\r\n", 1, .controlCharacter),
            ("\u{7F}\nquorum none\n", 1, .controlCharacter),
            ("#\u{0}\nquorum none\n", 1, .controlCharacter),
            ("quorums none\n", 1, .unknownKeyword),
            ("Quorum none\n", 1, .unknownKeyword),
            ("quorum\n", 1, .wrongWordCount(1)),
            ("quorum none none\n", 1, .wrongWordCount(3)),
            ("quorum none # comment\n", 1, .wrongWordCount(4)),
            ("log\nquorum none\n", 1, .wrongWordCount(1)),
            ("log \(log) url url\nquorum none\n", 1, .wrongWordCount(4)),
            ("witness W\nquorum none\n", 1, .wrongWordCount(2)),
            ("witness W \(w) url url\nquorum none\n", 1, .wrongWordCount(5)),
            ("\(two)group G any\nquorum none\n", 3, .wrongWordCount(3)),
            ("log example.com\nquorum none\n", 1, .key(.malformed)),
            ("log \(w)\nquorum none\n", 1, .keyOfOtherRole),
            ("witness W \(log)\nquorum none\n", 1, .keyOfOtherRole),
            ("log \(log)\nlog \(log)\nquorum none\n", 2, .duplicateKey),
            ("log \(log)\nlog \(other)\nquorum none\n", 2, .duplicateKey),
            ("witness W \(w)\nwitness V \(wRenamed)\nquorum none\n", 2, .duplicateKey),
            ("witness W \(w)\nwitness W \(v)\nquorum none\n", 2, .duplicateName),
            ("\(two)group W any V\nquorum none\n", 3, .duplicateName),
            ("\(two)group G any W\ngroup G any V\nquorum none\n", 4, .duplicateName),
            ("witness none \(w)\nquorum none\n", 1, .reservedName),
            ("\(two)group none any W\nquorum none\n", 3, .reservedName),
            ("\(two)group G any none\nquorum none\n", 3, .undefinedName),
            ("\(two)group G 0 W V\nquorum none\n", 3, .malformedThreshold),
            ("\(two)group G 3 W V\nquorum none\n", 3, .malformedThreshold),
            ("\(two)group G 01 W V\nquorum none\n", 3, .malformedThreshold),
            ("\(two)group G +1 W V\nquorum none\n", 3, .malformedThreshold),
            ("\(two)group G ANY W V\nquorum none\n", 3, .malformedThreshold),
            ("\(two)group G 18446744073709551615 W V\nquorum none\n", 3, .malformedThreshold),
            ("\(two)group G any W X\nquorum none\n", 3, .undefinedName),
            ("\(two)group G any G\nquorum none\n", 3, .undefinedName),
            ("\(two)group G any H\ngroup H any W\nquorum G\n", 3, .undefinedName),
            ("\(two)group G any W W\nquorum none\n", 3, .memberTwice),
            ("\(two)group G any W\ngroup H any W V\nquorum none\n", 4, .memberTwice),
            ("quorum W\nwitness W \(w)\n", 1, .undefinedName),
            ("quorum none\n\nquorum none\n", 3, .secondQuorum),
        ]
        for (text, line, fault) in cases {
            #expect(throws: PolicyError.line(line, fault), "\(text)") { try read(text) }
        }
        #expect(throws: PolicyError.lineNotTerminated) { try read("quorum none") }
        let long = [UInt8](repeating: 0x0A, count: Policy.maximumByteCount + 1)
        #expect(throws: PolicyError.tooLong(byteCount: long.count)) { try Policy(decoding: long) }
    }

    @Test func aPolicyMadeOfPartsIsCheckedLikeItsText() throws {
        let a = try VerifierKey(decoding: Array(Self.key(2, .cosignatureV1).utf8))
        let name = try #require(Policy.Name(Array("A".utf8)))
        let group = try #require(Policy.Name(Array("G".utf8)))
        #expect(throws: PolicyError.line(1, .keyOfOtherRole)) {
            try Policy(logs: [.init(key: a)], quorum: .none)
        }
        #expect(throws: PolicyError.line(1, .undefinedName)) { try Policy(logs: [], quorum: .member(name)) }
        for url in [[], [0x20], [0x0A]] as [[UInt8]] {
            #expect(throws: PolicyError.line(1, .malformedURL)) {
                try Policy(logs: [], witnesses: [.init(name: name, key: a, url: url)], quorum: .none)
            }
        }
        #expect(throws: PolicyError.line(2, .malformedThreshold)) {
            try Policy(
                logs: [], witnesses: [.init(name: name, key: a)],
                groups: [.init(name: group, threshold: 2, members: [name])], quorum: .none)
        }
        for bytes in [[], [0x20], [0x61, 0x09], [0x7F], [0x0A]] as [[UInt8]] {
            #expect(Policy.Name(bytes) == nil)
        }
    }

    @Test func thirtyTwoOfEachAreRead() throws {
        var text = ""
        for number in UInt8(1)...64 {
            text +=
                "log \(try Self.key(number, .ed25519))\nwitness w\(number) \(try Self.key(number, .cosignatureV1))\n"
        }
        for number in 0..<64 {
            text += "group g\(number) any w\(number + 1)\(number > 0 ? " g\(number - 1)" : "")\n"
        }
        let policy = try read(text + "quorum g63\n")
        #expect(policy.logs.count == 64 && policy.witnesses.count == 64 && policy.groups.count == 64)
        #expect(try Policy(decoding: policy.encoded) == policy)
    }

    @Test func namesAreOctets() throws {
        let a = try Self.key(2, .cosignatureV1), b = try Self.key(3, .cosignatureV1)
        var text = Array("witness K \(a)\nwitness \u{212A} \(b)\ngroup ".utf8)
        text += [0xFF, 0x20] + Array("all K \u{212A}\nquorum ".utf8) + [0xFF, 0x0A]
        let policy = try Policy(decoding: text)
        #expect(policy.encoded == text)
    }
}
