// SPDX-License-Identifier: Apache-2.0

import SelectiveDisclosure
import StrictJSON
import Testing

/// Each flipped bit of a good presentation is refused, by a check of the part that contains the bit.
@Suite(.enabled(if: PresentationVector.isPresent, "the folder shared/vectors is not beside the package"))
struct BitFlipTests {
    /// The faults that any text may have.
    static let spelling: Set<PresentationFault> = [.form, .base64URL, .json, .duplicateMember]

    static let issuer: Set<PresentationFault> = [
        .issuerAlgorithm, .issuerType, .issuerUntrusted, .issuerDID, .issuerSignature,
    ]
    static let disclosures: Set<PresentationFault> = [
        .disclosureEncoding, .disclosureForm, .disclosureUnreferenced, .json, .form,
    ]
    static let binding: Set<PresentationFault> = [
        .bindingAlgorithm, .bindingType, .bindingSignature, .disclosureEncoding,
    ]

    @Test(arguments: ["002", "009", "026"])
    func everyFlippedBitIsRefusedByACheck(_ name: String) async throws {
        let vector = try PresentationVector.named(name)
        let text = vector.presentation
        let first = try #require(text.firstIndex(of: UInt8(ascii: "~")))
        let last = try #require(text.lastIndex(of: UInt8(ascii: "~")))
        for place in text.indices {
            let owners =
                place == first || place == last
                ? Self.spelling.union(Self.issuer).union(Self.disclosures).union(Self.binding).union([.bindingMissing])
                : place < first
                    ? Self.issuer.union(Self.spelling)
                    : place < last ? Self.disclosures.union([.bindingHash]) : Self.binding.union(Self.spelling)
            for bit in 0..<8 {
                var flipped = text
                flipped[place] ^= 1 << UInt8(bit)
                let refusal = vector.refusal(flipped).flatMap(PresentationFault.init(rawValue:))
                #expect(refusal.map(owners.contains) == true, "\(name): byte \(place), bit \(bit): \(refusal as Any)")
            }
            if place.isMultiple(of: 64) { await Task.yield() }
        }
    }
}
