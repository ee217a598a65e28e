// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Spec: C2SP tlog-policy, "Policy file syntax and structure".
extension Policy {
    /// Reads a policy file. Comment lines, empty lines and the width of white space are not kept.
    ///
    /// - Throws: ``PolicyError``, with the number of the first line that does not stand.
    public init(decoding text: [UInt8]) throws(PolicyError) {
        guard text.count <= Self.maximumByteCount else { throw .tooLong(byteCount: text.count) }
        guard text.last ?? 0x0A == 0x0A else { throw .lineNotTerminated }
        var draft = PolicyDraft()
        let lines = text.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false)
        for (offset, line) in lines.enumerated() {
            draft.line = offset + 1
            try draft.add(line: line)
        }
        self = try draft.finish()
    }

    /// The canonical text: logs, witnesses, groups and the quorum in this order, one space between words, `any`
    /// for a threshold of one and `all` for one of every member.
    public var encoded: [UInt8] {
        var lines = listedLogs.map { [Array("log".utf8), $0.key.encoded] + [$0.url].compactMap { $0 } }
        lines += witnesses.map {
            [Array("witness".utf8), $0.name.bytes, $0.key.encoded] + [$0.url].compactMap { $0 }
        }
        lines += groups.map {
            [Array("group".utf8), $0.name.bytes, $0.thresholdText] + $0.members.map { $0.bytes }
        }
        lines.append([Array("quorum".utf8), quorum.text])
        return lines.flatMap { $0.joined(separator: [0x20]) + [0x0A] }
    }
}

extension Policy.Group {
    fileprivate var thresholdText: [UInt8] {
        if threshold == 1 { return Array("any".utf8) }
        if threshold == members.count { return Array("all".utf8) }
        return Decimal.encode(UInt64(threshold))
    }
}

extension Policy.Quorum {
    fileprivate var text: [UInt8] {
        switch self {
        case .none: Policy.Name.none
        case .member(let name): name.bytes
        }
    }
}

extension PolicyDraft {
    fileprivate mutating func add(line: ArraySlice<UInt8>) throws(PolicyError) {
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw fault(.controlCharacter)
        }
        let words = line.split { $0 == 0x20 || $0 == 0x09 }.map(Array.init)
        guard let keyword = words.first, keyword.first != UInt8(ascii: "#") else { return }
        switch keyword {
        case Array("log".utf8): try addLog(words)
        case Array("witness".utf8): try addWitness(words)
        case Array("group".utf8): try addGroup(words)
        case Array("quorum".utf8): try setQuorum(words)
        default: throw fault(.unknownKeyword)
        }
    }

    private mutating func addLog(_ words: [[UInt8]]) throws(PolicyError) {
        guard words.count == 2 || words.count == 3 else { throw fault(.wrongWordCount(words.count)) }
        try add(Policy.Log(key: try key(words[1]), url: words.count == 3 ? words[2] : nil))
    }

    private mutating func addWitness(_ words: [[UInt8]]) throws(PolicyError) {
        guard words.count == 3 || words.count == 4 else { throw fault(.wrongWordCount(words.count)) }
        let url = words.count == 4 ? words[3] : nil
        try add(Policy.Witness(name: try name(words[1]), key: try key(words[2]), url: url))
    }

    private mutating func addGroup(_ words: [[UInt8]]) throws(PolicyError) {
        guard words.count >= 4 else { throw fault(.wrongWordCount(words.count)) }
        var members: [Policy.Name] = []
        for word in words[3...] { members.append(try name(word)) }
        let threshold = try threshold(words[2], of: members.count)
        try add(Policy.Group(name: try name(words[1]), threshold: threshold, members: members))
    }

    private mutating func setQuorum(_ words: [[UInt8]]) throws(PolicyError) {
        guard words.count == 2 else { throw fault(.wrongWordCount(words.count)) }
        try set(words[1] == Policy.Name.none ? .none : .member(try name(words[1])))
    }

    private func threshold(_ word: [UInt8], of count: Int) throws(PolicyError) -> Int {
        if word == Array("any".utf8) { return 1 }
        if word == Array("all".utf8) { return count }
        guard let number = try? Decimal.decode(word), let threshold = Int(exactly: number) else {
            throw fault(.malformedThreshold)
        }
        return threshold
    }

    private func name(_ word: [UInt8]) throws(PolicyError) -> Policy.Name {
        guard let name = Policy.Name(word) else { throw fault(.controlCharacter) }
        return name
    }

    private func key(_ word: [UInt8]) throws(PolicyError) -> VerifierKey {
        do throws(VerifierKeyError) {
            return try VerifierKey(decodingAnyType: word)
        } catch {
            throw fault(.key(error))
        }
    }
}
