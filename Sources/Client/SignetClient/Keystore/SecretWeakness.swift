// SPDX-License-Identifier: Apache-2.0

public import SecretMemory

/// Why a new passphrase or password could be guessed too soon by an attacker with unlimited attempts, such as the server's
/// operator or a thief who has a device.
///
/// Security: this is a lower bound, not a measure of strength. A secret that passes is not among the first guesses; it need not
/// be strong.
public enum SecretWeakness: Error, Hashable, Sendable {
    /// The secret has only this many characters; the minimum is ``minimumCount``.
    case short(Int)
    /// The secret consists of digits, fewer than ``minimumDigitCount`` of them.
    case digits
    /// Too little is left without repetitions and sequences such as `abcd`, `4321` and `qwerty`.
    case predictable
    /// Too little is left without the user's own name and the words that attackers try first.
    case wellKnown

    /// The minimum number of characters.
    public static let minimumCount = 10
    /// The minimum number of digits, if there is nothing else.
    public static let minimumDigitCount = 20
    /// The minimum number of characters that do not follow from those before them.
    static let minimumFreeCount = 8

    /// The first reason to refuse a new secret, or nil.
    ///
    /// - Parameter names: what others know about its owner, such as the handle.
    public static func first(of secret: SecretBytes, knowing names: [String] = []) -> SecretWeakness? {
        secret.withBytes { bytes in
            // One byte for each character: the first byte of its UTF-8, in lower case.
            var letters: [UInt8] = bytes.filter { $0 & 0xC0 != 0x80 }.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
            defer { letters.wipe() }
            guard letters.count >= minimumCount else { return .short(letters.count) }
            if letters.allSatisfy({ (48...57).contains($0) }) && letters.count < minimumDigitCount { return .digits }
            guard freeCount(letters) >= minimumFreeCount else { return .predictable }
            for word in words + parts(of: names) { replace(Array(word.utf8), in: &letters) }
            return freeCount(letters) >= minimumFreeCount ? nil : .wellKnown
        }
    }

    /// How many characters neither repeat earlier ones nor continue a sequence.
    private static func freeCount(_ letters: [UInt8]) -> Int {
        letters.indices.filter { !isPredictable($0, in: letters) }.count
    }

    private static func isPredictable(_ index: Int, in letters: [UInt8]) -> Bool {
        guard index > 0 else { return false }
        let (before, this) = (letters[index - 1], letters[index])
        if rows.contains(where: { areNeighbours(before, this, in: $0) }) { return true }
        // Repetitions with up to eleven characters between, and of the preceding character.
        return (1...12).contains { period in
            index >= period && letters[index - period] == this
                && (period == 1 || index > period && letters[index - period - 1] == before)
        }
    }

    private static func areNeighbours(_ one: UInt8, _ other: UInt8, in row: [UInt8]) -> Bool {
        guard let first = row.firstIndex(of: one), let second = row.firstIndex(of: other) else { return false }
        return abs(first - second) == 1
    }

    /// A word counts as one character that belongs to no sequence.
    private static func replace(_ word: [UInt8], in letters: inout [UInt8]) {
        var index = 0
        while index + word.count <= letters.count {
            if letters[index..<index + word.count].elementsEqual(word) {
                letters.replaceSubrange(index..<index + word.count, with: [0])
            }
            index += 1
        }
    }

    private static func parts(of names: [String]) -> [String] {
        names.flatMap { $0.lowercased().split { !$0.isLetter && !$0.isNumber } }.map(String.init)
            .filter { $0.utf8.count >= 3 }
    }

    private static let rows = [
        "abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm",
    ].map { Array($0.utf8) }

    /// The entries with which password lists begin, longer ones first.
    private static let words = [
        "correcthorsebatterystaple", "correct horse battery staple", "passphrase", "administrator", "password",
        "passwort",
        "passw0rd", "p@ssw0rd", "p@ssword", "iloveyou", "trustno1", "letmein", "welcome", "football", "baseball",
        "basketball", "princess", "sunshine", "starwars", "superman", "whatever", "computer", "internet", "geheimnis",
        "hallo", "hello", "monkey", "dragon", "master", "shadow", "secret", "geheim", "summer", "winter", "sommer",
        "freedom", "michael", "jessica", "charlie", "signet", "notes", "admin", "login", "qwerty", "qwertz", "1q2w3e4r",
        "changeme", "azerty",
    ]
}
