// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import KeyTransparency
package import NoteLog
package import NotesAPI

/// What a test expected to be there is not.
package struct Missing: Error {
    /// Something is missing.
    package init() {}
}

/// The value, or ``Missing``.
package func unwrapped<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Missing() }
    return value
}

/// A person with one device, as far as the server sees one.
package struct NoteWriter: Sendable {
    /// The signer.
    package let author: Author
    private let device: Curve25519.Signing.PrivateKey

    /// The person.
    package var handle: Handle { author.handle }
    /// The device's signature.
    package var sign: ([UInt8]) throws -> [UInt8] {
        let device = device
        return { try Array(device.signature(for: $0)) }
    }

    /// `name@example.org` with a new device.
    package init(_ name: String) throws {
        try self.init(Handle(typed: Array("\(name)@example.org".utf8)), device: Curve25519.Signing.PrivateKey())
    }

    /// A person with a device that is there already.
    package init(_ handle: Handle, device: Curve25519.Signing.PrivateKey) {
        self.device = device
        author = Author(handle: handle, device: Array(device.publicKey.rawRepresentation))
    }
}

/// A note as its members know it: makes the pushes that take it further. Nothing is sealed; the server cannot tell.
package struct NoteDraft: Sendable {
    /// The note.
    package let note: NoteID
    /// After the last step.
    package private(set) var state: ControlState
    /// The last revision.
    package private(set) var revision: RevisionView?
    /// Comments and stars.
    package private(set) var children: Set<RecordHash> = []
    /// The first step.
    package let first: ControlEntry

    /// A new note.
    package init(by owner: NoteWriter) throws {
        note = try unwrapped(NoteID((0..<16).map { _ in .random(in: 0...255) }))
        first = try ControlEntry(
            note: note, number: 1, previous: .none, time: 1, author: owner.author,
            action: .create(keyCommitment: Self.bytes(32)), with: owner.sign)
        state = try ControlState(first: first)
    }

    /// Random bytes.
    package static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }

    /// A push of a new name.
    package static func push(_ operation: PushOperation) throws -> NotePush {
        try NotePush(name: bytes(NotePush.nameByteCount), operation: operation)
    }

    /// The first push.
    package func creation() throws -> NotePush {
        try Self.push(.control(ControlPush(entry: first, ownWrap: Self.bytes(100))))
    }

    /// Adds a member.
    package mutating func share(
        with reader: NoteWriter, _ role: NoteRole = .writer, by owner: NoteWriter
    ) throws -> NotePush {
        let entry = try step(.share(reader.handle, role), by: owner)
        return try Self.push(.control(ControlPush(entry: entry, wraps: [wrap(for: reader, by: owner)])))
    }

    /// Removes a member; `rest` stays.
    package mutating func unshare(
        _ reader: NoteWriter, rest: [NoteWriter] = [], by owner: NoteWriter
    ) throws -> NotePush {
        let members = state.memberHash(without: reader.handle)
        let entry = try step(.unshare(reader.handle, rekeying(members)), by: owner)
        return try rekeyed(entry, rest, by: owner)
    }

    /// Another key for the same members.
    package mutating func rekey(for members: [NoteWriter], by owner: NoteWriter) throws -> NotePush {
        let entry = try step(.rekey(rekeying(state.memberHash)), by: owner)
        return try rekeyed(entry, members, by: owner)
    }

    /// A step with which nothing goes.
    package mutating func bare(_ action: ControlAction, by owner: NoteWriter) throws -> NotePush {
        try Self.push(.control(ControlPush(entry: step(action, by: owner))))
    }

    /// A revision.
    package mutating func write(_ byteCount: Int = 10, by writer: NoteWriter) throws -> NotePush {
        try Self.push(.revision(nextRevision(byteCount, by: writer)))
    }

    /// A comment.
    package mutating func comment(_ byteCount: Int = 10, by reader: NoteWriter) throws -> NotePush {
        let child = try ChildRecord(
            note: note, child: unwrapped(NoteID(Self.bytes(16))), epoch: state.epoch, control: state.head,
            author: reader.author, sealed: Self.bytes(byteCount), with: reader.sign)
        children.insert(child.hash)
        return try Self.push(.child(child))
    }

    private mutating func step(_ action: ControlAction, by owner: NoteWriter) throws -> ControlEntry {
        let entry = try ControlEntry(
            note: note, number: state.number + 1, previous: state.head, time: 1, author: owner.author, action: action,
            with: owner.sign)
        state = try state.applying(entry)
        return entry
    }

    private func rekeying(_ members: RecordHash) -> Rekeying {
        Rekeying(
            epoch: state.epoch + 1, keyCommitment: Self.bytes(32), revisionHead: revision?.head ?? .none,
            children: ChildList(children).hash, members: members)
    }

    private mutating func rekeyed(_ entry: ControlEntry, _ rest: [NoteWriter], by owner: NoteWriter) throws -> NotePush
    {
        let revision = try revision == nil ? nil : nextRevision(10, by: owner)
        return try Self.push(
            .control(
                ControlPush(
                    entry: entry, wraps: rest.map { try wrap(for: $0, by: owner) }, ownWrap: Self.bytes(100),
                    revision: revision, children: ChildList(children))))
    }

    private mutating func nextRevision(_ byteCount: Int, by writer: NoteWriter) throws -> RevisionRecord {
        let record = try RevisionRecord(
            note: note, number: (revision?.number ?? 0) + 1, parent: revision?.head ?? .none, epoch: state.epoch,
            control: state.head, author: writer.author, sealed: Self.bytes(byteCount), with: writer.sign)
        revision = RevisionView(number: record.number, head: record.hash)
        return record
    }

    private func wrap(for reader: NoteWriter, by owner: NoteWriter) throws -> WrapRecord {
        try WrapRecord(
            WrapRecord.Header(
                note: note, epoch: state.epoch, control: state.head, sender: owner.author, recipient: reader.author,
                recipientKeys: Self.bytes(32), suite: .p256),
            encapsulation: Self.bytes(65), ciphertext: Self.bytes(48), with: owner.sign)
    }
}
