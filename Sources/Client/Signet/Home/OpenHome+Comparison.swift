// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SignetClient

/// Identities of two people that were compared and match.
///
/// Security: only `ComparedIdentities.matched(typed:)` and `matched(scanned:)` make one, so that no comparison is recorded without
/// a match.
public struct MatchedIdentities: Sendable {
    /// The identities.
    public let identities: ComparedIdentities
    let kind: Comparison.Kind
}

/// Why a comparison with a person is not recorded.
public enum ComparisonRefusal: Hashable, Sendable {
    /// These are not all the digits to compare: sixty, or the last two groups of each line.
    case tooFewDigits
    /// The digits are not those of the two people. If they were read and typed correctly, the directory gave one of the two a key
    /// that is not the other's.
    case otherDigits
    /// The scanned code is refused.
    case code(IdentityCodeError)
}

extension ComparedIdentities {
    /// The sixty digits that both people see, as text: twelve groups of five, with spaces between.
    public var digits: String { number.groups.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") }

    /// Compares the digits that the other person reads from their screen.
    ///
    /// - Parameter digits: the sixty digits, or the last two groups of each line, with any spaces.
    /// - Throws: ``SignetError/comparison(_:with:)``.
    public func matched(typed digits: String) throws(SignetError) -> MatchedIdentities {
        let digits = Array(digits.utf8)
        guard SafetyNumber.isWhole(typed: digits) else { throw .comparison(.tooFewDigits, with: peer) }
        guard number.matches(typed: digits) else { throw .comparison(.otherDigits, with: peer) }
        return MatchedIdentities(identities: self, kind: .number)
    }

    /// Compares the code that was scanned from the other person's screen.
    ///
    /// - Throws: ``SignetError/comparison(_:with:)``.
    public func matched(scanned code: [UInt8]) throws(SignetError) -> MatchedIdentities {
        do throws(IdentityCodeError) { try check(IdentityCode(decoding: code)) } catch {
            throw .comparison(.code(error), with: peer)
        }
        return MatchedIdentities(identities: self, kind: .code)
    }
}

extension OpenHome {
    /// Records that the user and another person compared their identities and found each other's keys.
    ///
    /// - Parameter metOn: the day on which they met to compare, counted from 1970-01-01, as the user gave it; nil if they did not
    ///   meet.
    /// - Throws: ``SignetError``: `.client(.misuse(.changeHasMoved))` if another identity is pinned by now.
    public func keep(_ matched: MatchedIdentities, metOn: UInt64?) async throws(SignetError) {
        do throws(ClientError) {
            try await client.keepComparison(of: matched.identities, by: matched.kind, metOn: metOn)
        } catch { throw .client(error) }
    }
}
