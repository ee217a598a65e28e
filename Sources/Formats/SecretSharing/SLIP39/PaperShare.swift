// SPDX-License-Identifier: Apache-2.0

import SecretMemory

/// A guardian's share on paper: 33 words that any SLIP-0039 program reads as a secret of its own.
///
/// The share's place is the words' identifier, so that there is no second number to write down.
public enum PaperShare {
    /// Where shares that are to be printed have their place: the identifier has 15 bits.
    public static let places: ClosedRange<UInt16> = 1...0x7FFF

    /// The words for a share.
    ///
    /// - Throws: ``PaperShareError/placeTooHigh``: deal with an index from ``places``.
    ///
    /// Security: this text is the share. Show it once and let it go.
    public static func words(for share: SecretShare) throws(PaperShareError) -> [UInt8] {
        guard places.contains(share.index.value) else { throw .placeTooHigh }
        var generator = SystemRandomNumberGenerator()  // one share of one: nothing is drawn
        let octets = share.scalar.withBytes { SecretBytes(copying: $0) }
        guard
            let set = try? SLIP39Set(
                of: octets, groups: [.init(threshold: 1, count: 1)], groupThreshold: 1,
                identifier: share.index.value, iterationExponent: 0, using: &generator)
        else { throw .notAShare }
        return set.groups[0][0].encoded
    }

    /// The share that a person typed in. Whether it belongs to a dealing, its commitments tell.
    ///
    /// - Throws: ``PaperShareError``.
    public static func share(typed text: [UInt8]) throws(PaperShareError) -> SecretShare {
        let words: SLIP39Share
        do throws(SLIP39Error) { words = try SLIP39Share(typed: text) } catch { throw .words(error) }
        guard words.set.isExtendable, words.set.iterationExponent == 0,
            let index = ShareIndex(words.set.identifier),
            let octets = try? SecretBytes.recovered(from: [words], maximumExponent: 0),
            let scalar = try? octets.withSpan({ bytes throws(SecretScalarError) in try SecretScalar(bytes) })
        else { throw .notAShare }
        return SecretShare(index: index, scalar: scalar)
    }
}

/// Why words and a share did not turn into each other.
public enum PaperShareError: Error, Hashable, Sendable {
    /// The share's place does not fit into words; the caller's mistake.
    case placeTooHigh
    /// Not the words of a share; the person has to look again.
    case words(SLIP39Error)
    /// Right words of something else.
    case notAShare
}
