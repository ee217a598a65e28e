// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import SecureCell
import Testing

@testable import SealedNotes

/// Z9: what is sealed twice looks like two things, and its length is one of a few.
struct EqualBlocksTests {
    let alice, bob: Person
    var book: Notebook
    let zeros = [UInt8](repeating: 0, count: 20_000)

    init() throws {
        alice = try Person("alice")
        bob = try Person("bob")
        book = try Notebook(owner: alice)
        try book.step(.share(bob.handle, .writer), by: alice)
    }

    /// Every eight bytes in a row, as numbers.
    private func runs(_ bytes: some Sequence<UInt8>) -> [UInt64] {
        var window: UInt64 = 0
        return bytes.map { byte in
            window = window << 8 | UInt64(byte)
            return window
        }.dropFirst(7).map { $0 }
    }

    /// Whether no run of eight bytes of the one is in the other, and none is twice in either.
    private func differ(_ first: some Sequence<UInt8>, _ second: some Sequence<UInt8>) -> Bool {
        let all = runs(first) + runs(second)
        return Set(all).count == all.count
    }

    /// Behind the cell's four lengths, which are the same for messages of one length.
    private func behindLengths(_ sealed: [UInt8]) -> ArraySlice<UInt8> { sealed.dropFirst(16) }

    private func sealed(_ body: [UInt8], in book: Notebook) throws -> RevisionRecord {
        try book.key.seal(
            NoteDocument(title: [], body: body, created: 0, modified: 0), after: book.verified([alice, bob]).head,
            state: book.state, author: alice.author(), with: alice.sign())
    }

    @Test func theCheckFindsPlantedEqualBlocks() throws {
        // Themis' Context Imprint gives equal messages equal ciphertexts.
        let imprints = try (0..<2).map { _ in
            try ContextImprint.imprint(zeros, key: SymmetricKey(data: [UInt8](repeating: 1, count: 32)), context: [1])
        }
        #expect(!differ(imprints[0], imprints[1]))
        #expect(!differ(zeros, []))
        let one = try sealed(zeros, in: book).sealed
        #expect(!differ(behindLengths(one), one.dropFirst(5_000).prefix(8)))
    }

    @Test mutating func theSameTextTwice() throws {
        let first = try sealed(zeros, in: book)
        book.revisions.append(first)
        let next = try sealed(zeros, in: book)
        #expect(differ(behindLengths(first.sealed), behindLengths(next.sealed)))
        // In the same place, as after a lost answer; and in another note.
        book.revisions = []
        #expect(try differ(behindLengths(first.sealed), behindLengths(sealed(zeros, in: book).sealed)))
        #expect(
            try differ(behindLengths(first.sealed), behindLengths(sealed(zeros, in: Notebook(owner: alice)).sealed)))
    }

    @Test func equalCommentsShareNoBlocks() throws {
        let comments = try (0..<2).map { _ in
            try book.key.seal(
                .comment(text: [UInt8](zeros.prefix(4000)), time: 0), as: book.note, state: book.state,
                author: bob.author(), with: bob.sign()
            ).sealed
        }
        #expect(differ(behindLengths(comments[0]), behindLengths(comments[1])))
    }

    @Test func equalFilesShareNoBlocks() throws {
        let chunk = [UInt8](repeating: 0, count: AttachmentManifest.chunkByteCount)
        let files = try (0..<2).map { _ in
            let manifest = try AttachmentManifest(
                blob: book.note, byteCount: 2 * UInt64(chunk.count), name: [1], mediaType: [])
            return try (0..<2).flatMap { try manifest.seal(chunk, chunk: $0) }
        }
        #expect(differ(files[0], files[1]))
    }

    @Test func repeatedWrapsOfAKeyShareNoBlocks() throws {
        let wraps = try WrapSuite.allCases.flatMap { suite in
            try (0..<2).map { _ in
                let recipient = WrapRecipient.devices(of: try bob.lookup())[0]
                return try book.key.wrap(
                    to: recipient, state: book.state, sender: alice.author(), suite: suite, with: alice.sign())
            }.map { $0.encapsulation + $0.ciphertext }
        }
        // A point of P-256 begins with 4; nothing else is the same.
        #expect(differ(wraps[0], wraps[1]) && differ(wraps[2].dropFirst(), wraps[3].dropFirst()))
    }

    @Test func repeatedWrapsOfAnAccountKeyShareNoBlocks() throws {
        let account = AccountMasterKey.generate(for: alice.handle, epoch: 1)
        let (exportKey, recovery) = (SymmetricKey(data: [UInt8](repeating: 8, count: 64)), RecoveryKey.generate())
        func box(_ bytes: [UInt8]) -> ArraySlice<UInt8> { bytes.suffix(SecretBox.byteCount) }
        let boxes = try (0..<2).flatMap { _ in
            [
                box(try AccountKeyWrap(account, exportKey: exportKey).encoded),
                box(try AccountKeyWrap(account, recoveryKey: recovery).encoded),
                box(try OwnWrap(book.key, under: account).encoded),
            ]
        }
        #expect(differ(boxes.flatMap { $0 }, []))
    }

    /// The steps of the documentation, written down here by themselves.
    @Test func ciphertextLengthsHaveFewValues() throws {
        var steps = Set((1...16).map { $0 * 256 })
        for power in 12..<20 { steps.formUnion((1...8).map { (1 << power) + $0 << (power - 3) }) }
        var seen: Set<Int> = []
        for count in stride(from: 0, to: 60_000, by: 487) {
            let sealed = try sealed([UInt8](repeating: 0, count: count), in: book).sealed
            #expect(steps.contains(sealed.count - 44), "\(count) bytes")
            seen.insert(sealed.count)
        }
        #expect(seen.count <= 16 + 4 * 8)
        for count in [0, 1, 65_536, 65_537] as [UInt64] {
            let manifest = try AttachmentManifest(blob: book.note, byteCount: count, name: [1], mediaType: [])
            for index in 0..<manifest.chunkCount {
                let content = [UInt8](repeating: 0, count: min(65_536, Int(count) - index * 65_536))
                #expect(try manifest.seal(content, chunk: index).count == 65_552)
            }
        }
    }
}
