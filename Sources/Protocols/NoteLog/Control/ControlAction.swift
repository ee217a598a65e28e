// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyTransparency

/// One step in the life of a note: who has it, and under which key.
public enum ControlAction: Hashable, Sendable {
    /// The first step: the author owns the note, whose key of epoch 1 has this commitment (32 bytes).
    case create(keyCommitment: [UInt8])
    /// A person becomes a member, or a reader becomes a writer.
    case share(Handle, NoteRole)
    /// A member is removed, and the note has another key from here on.
    case unshare(Handle, Rekeying)
    /// The same members, another key.
    case rekey(Rekeying)
    /// A member becomes the owner, and the owner a writer.
    case transfer(Handle)
    /// The last step.
    case delete
    /// The author, a member, says that they left. They are a member until the owner takes them out.
    case leave

    /// Wire form: u8 kind, then the parts in order.
    func write(to writer: inout ByteWriter) {
        switch self {
        case .create(let commitment):
            writer.write(UInt8(1))
            writer.write(commitment)
        case .share(let handle, let role):
            writer.write(UInt8(2))
            writer.write(handle)
            writer.write(role.rawValue)
        case .unshare(let handle, let rekeying):
            writer.write(UInt8(3))
            writer.write(handle)
            rekeying.write(to: &writer)
        case .rekey(let rekeying):
            writer.write(UInt8(4))
            rekeying.write(to: &writer)
        case .transfer(let handle):
            writer.write(UInt8(5))
            writer.write(handle)
        case .delete: writer.write(UInt8(6))
        case .leave: writer.write(UInt8(7))
        }
    }

    init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1: self = .create(keyCommitment: Array(try reader.bytes(32)))
        case 2:
            let handle = try Handle(from: &reader)
            guard let role = NoteRole(rawValue: try reader.uint8()) else { throw NoteRecordError.invalidField }
            self = .share(handle, role)
        case 3: self = .unshare(try Handle(from: &reader), try Rekeying(from: &reader))
        case 4: self = .rekey(try Rekeying(from: &reader))
        case 5: self = .transfer(try Handle(from: &reader))
        case 6: self = .delete
        case 7: self = .leave
        default: throw NoteRecordError.invalidField
        }
    }
}

/// A new key for a note, and what the epoch before it amounts to.
///
/// Wire form: u32 epoch, 32 key commitment, 32 revision head, 32 children, 32 members.
public struct Rekeying: Hashable, Sendable {
    /// One more than before.
    public let epoch: UInt32
    /// What the new key is recognised by, 32 bytes.
    public let keyCommitment: [UInt8]
    /// The last revision under older keys; ``RecordHash/none`` if there is none. No later one under them counts.
    public let revisionHead: RecordHash
    /// Hash of the ``ChildList`` of all comments and stars under older keys. No other under them counts.
    public let children: RecordHash
    /// Hash of owner and members after this step, which every reader computes as well.
    public let members: RecordHash

    /// A rekeying; ``ControlState`` checks it.
    public init(
        epoch: UInt32, keyCommitment: [UInt8], revisionHead: RecordHash, children: RecordHash, members: RecordHash
    ) {
        self.epoch = epoch
        self.keyCommitment = keyCommitment
        self.revisionHead = revisionHead
        self.children = children
        self.members = members
    }

    func write(to writer: inout ByteWriter) {
        writer.write(epoch)
        writer.write(keyCommitment)
        for hash in [revisionHead, children, members] { writer.write(hash.bytes) }
    }

    init(from reader: inout ByteReader) throws {
        epoch = try reader.uint32()
        keyCommitment = Array(try reader.bytes(32))
        revisionHead = try reader.recordHash()
        children = try reader.recordHash()
        members = try reader.recordHash()
    }
}
