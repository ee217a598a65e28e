// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import PassBundle
import StrictJSON
import Testing

@Suite struct PassBundleTests {
    private let salt = [UInt8](repeating: 5, count: 32)

    /// The check value of CRC-32: "123456789" (Rocksoft model, CRC-32/ISO-HDLC).
    @Test func theChecksumHasItsCheckValue() { #expect(CRC32.checksum(of: "123456789".utf8) == 0xCBF4_3926) }

    /// FIPS 180-4: the digests of "abc"; python3's zipfile and unzip read whole archives in `Scripts/wallet-cards`.
    @Test func theManifestNamesEachFileByItsDigest() throws {
        let bundle = try PassDraft(pass: [:], pictures: ["icon.png": Array("abc".utf8)], salt: salt)
        let manifest = try JSONObject(decoding: bundle.manifest)
        #expect(manifest.names.map(\.description).sorted() == ["icon.png", "pass.json", "salt"])
        #expect(manifest["icon.png"]?.string == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(Array(bundle.digest) == Array(SHA256.hash(data: bundle.manifest)))
    }

    /// A signer who sees two digests does not learn that one card was made twice.
    @Test func theSameCardMadeTwiceHasTwoDigests() throws {
        let first = try PassDraft(pass: [:], pictures: [:], salt: salt)
        let second = try PassDraft(pass: [:], pictures: [:], salt: [UInt8](repeating: 6, count: 32))
        #expect(first.digest != second.digest)
    }

    @Test func namesThatLeaveTheArchiveAreRefused() {
        for name in [
            "../icon.png", "a/b.png", "manifest.json", "signature", "ICON.png", "icon.gif", ".png", ".a.png", "é.png",
        ] {
            #expect(throws: PassDraftFault.name(name)) { try PassDraft(pass: [:], pictures: [name: []], salt: salt) }
        }
    }

    @Test func boundsAreKept() {
        #expect(throws: PassDraftFault.salt) { try PassDraft(pass: [:], pictures: [:], salt: []) }
        let many = Dictionary(uniqueKeysWithValues: (0..<17).map { ("p\($0).png", [UInt8]()) })
        #expect(throws: PassDraftFault.tooMany) { try PassDraft(pass: [:], pictures: many, salt: salt) }
        let long = ["icon.png": [UInt8](repeating: 0, count: PassDraft.maximumByteCount + 1)]
        #expect(throws: PassDraftFault.tooLong("icon.png")) { try PassDraft(pass: [:], pictures: long, salt: salt) }
        let words: JSONObject = ["text": .string(JSONText(String(repeating: "a", count: PassDraft.maximumByteCount)))]
        #expect(throws: PassDraftFault.tooLong("pass.json")) { try PassDraft(pass: words, pictures: [:], salt: salt) }
    }
}
