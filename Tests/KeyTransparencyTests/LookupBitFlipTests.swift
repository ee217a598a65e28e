import KeyTransparency
import Testing
import TransparencyLog
import VRF

/// Where is this byte checked? Every bit of a golden answer is flipped; each flip must be refused, and by
/// a check that owns the byte.
@Suite struct LookupBitFlipTests {
    /// The parts of the wire form, in order, and the checks that may refuse a change in them.
    struct Region {
        let name: String
        let byteCount: Int
        let owners: Set<LookupCheck>
    }

    static func regions(_ response: LookupResponse) throws -> [Region] {
        func proofs(_ proofs: [InclusionProof], _ name: String) -> [Region] {
            proofs.flatMap { proof in
                [
                    Region(name: "\(name) index", byteCount: 8, owners: [.inclusion]),
                    // Another count shifts everything behind it.
                    Region(
                        name: "\(name) path length", byteCount: 1,
                        owners: [.envelope, .leaves, .checkpointText, .inclusion]),
                    Region(name: "\(name) path", byteCount: 32 * proof.hashes.count, owners: [.inclusion]),
                ]
            }
        }
        let note = try SignedNote(decoding: response.note)
        let checkpoint = try Checkpoint(decoding: note.text)
        let originCount = checkpoint.origin.bytes.count
        let logLineCount = note.signatures[0].encoded.count
        return [
            Region(name: "format", byteCount: 17, owners: [.envelope]),
            Region(name: "VRF proof", byteCount: 80, owners: [.envelope, .vrf]),
            Region(name: "kind", byteCount: 1, owners: [.envelope, .accountState, .inclusion]),
            Region(name: "opening", byteCount: 32, owners: [.inclusion]),
            Region(name: "state length", byteCount: 2, owners: [.envelope, .accountState]),
            Region(name: "state", byteCount: response.state.count, owners: [.accountState]),
        ] + proofs([response.stateInclusion], "state record") + [
            Region(
                name: "device count", byteCount: 1, owners: [.envelope, .leaves, .checkpointText])
        ] + proofs(response.deviceInclusions, "device leaf") + [
            Region(name: "consistency length", byteCount: 1, owners: [.envelope, .checkpointText]),
            Region(
                name: "consistency proof", byteCount: 32 * response.consistency.hashes.count,
                owners: [.consistency]),
            Region(name: "origin", byteCount: originCount, owners: [.checkpointText, .origin]),
            Region(
                name: "size and root", byteCount: note.text.count - originCount,
                owners: [.checkpointText, .origin, .logSignature]),
            Region(
                name: "log signature line", byteCount: 1 + logLineCount,
                owners: [.checkpointText, .logSignature]),
            Region(
                name: "cosignature lines",
                byteCount: response.note.count - note.text.count - 1 - logLineCount,
                owners: [.checkpointText, .cosignatures]),
        ]
    }

    @Test func everyBitOfAnAnswerIsOwnedByACheck() async throws {
        let alice = try PaperPerson("alice@example.org", seed: 10)
        var directory = try PaperDirectory()
        try directory.publish(alice)
        for number in 0..<9 { directory.tree.append(.leaf(Array("later \(number)".utf8))) }
        let known: UInt64 = 21
        let response = try directory.answer(about: alice, knowing: known)
        let view = try directory.view(size: known)
        let golden = response.encoded
        let verifier = try directory.verifier()
        _ = try verifier.verify(golden, for: alice.handle, knowing: view, at: PaperDirectory.now)
        let regions = try Self.regions(response)
        #expect(regions.map(\.byteCount).reduce(0, +) == golden.count)

        await withTaskGroup(of: Void.self) { group in
            var start = 0
            for region in regions {
                let range = start..<start + region.byteCount
                start = range.upperBound
                group.addTask {
                    for bit in range.lowerBound * 8..<range.upperBound * 8 {
                        var flipped = golden
                        flipped[bit / 8] ^= 1 << (bit % 8)
                        do throws(LookupError) {
                            _ = try verifier.verify(
                                flipped, for: alice.handle, knowing: view, at: PaperDirectory.now)
                            Issue.record("bit \(bit) of \(region.name) may be flipped")
                        } catch {
                            #expect(
                                region.owners.contains(error.check),
                                "bit \(bit) of \(region.name) was refused by \(error)")
                        }
                    }
                }
            }
        }
    }
}
