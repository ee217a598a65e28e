// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import NoteLog

/// A change with the name under which it may be sent again.
///
/// Wire form: 16 name; u8 kind. 1: block control entry, u16 count and blocks of wraps, option of a block own wrap, option of a
/// block revision, option of a block child list. 2: block revision. 3: block child. 4: as 1, then a block child list, not
/// empty: of the children that a rekeying leaves out.
public struct NotePush: NoteBody {
    /// Bytes of a name.
    public static let nameByteCount = 16
    /// No own wrap is longer, in bytes.
    public static let maximumOwnWrapByteCount = 512
    /// The most wraps that go with one step.
    public static let maximumWrapCount = 4096
    /// No child list is longer, in bytes.
    public static let maximumChildListByteCount = 1 << 18

    /// 16 random bytes; the same name with the same change is applied once.
    public let name: [UInt8]
    /// The change.
    public let operation: PushOperation

    /// A push.
    ///
    /// - Throws: ``NoteBodyError/invalidField``: not ``nameByteCount`` bytes.
    public init(name: [UInt8], operation: PushOperation) throws(NoteBodyError) {
        guard name.count == Self.nameByteCount else { throw .invalidField }
        self.name = name
        self.operation = operation
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(name)
        switch operation {
        case .control(let push):
            let leavesOut = !push.leftOut.children.isEmpty
            writer.write(UInt8(leavesOut ? 4 : 1))
            push.write(to: &writer)
            if leavesOut { writer.write(block: push.leftOut.encoded) }
        case .revision(let revision):
            writer.write(UInt8(2))
            writer.write(block: revision.encoded)
        case .child(let child):
            writer.write(UInt8(3))
            writer.write(block: child.encoded)
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        name = try reader.fixed(Self.nameByteCount)
        switch try reader.uint8() {
        case 1: operation = .control(try ControlPush(from: &reader, leavesOut: false))
        case 4: operation = .control(try ControlPush(from: &reader, leavesOut: true))
        case 2: operation = .revision(try reader.revision())
        case 3: operation = .child(try reader.child())
        default: throw NoteBodyError.invalidField
        }
    }
}

/// Changes, applied one after the other; each completely or not at all, regardless of the others.
///
/// Wire form: u8 count, pushes.
public struct NotePushes: NoteBody {
    /// The most in one request.
    public static let maximumCount = 64

    /// From 1 to ``maximumCount``.
    public let pushes: [NotePush]

    /// A batch.
    ///
    /// - Throws: ``NoteBodyError/invalidField``: none, or too many.
    public init(_ pushes: [NotePush]) throws(NoteBodyError) {
        guard (1...Self.maximumCount).contains(pushes.count) else { throw .invalidField }
        self.pushes = pushes
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(UInt8(truncatingIfNeeded: pushes.count))
        for push in pushes { push.write(to: &writer) }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        pushes = try reader.list(Int(reader.uint8()), in: 1...Self.maximumCount) { try NotePush(from: &$0) }
    }
}

extension ControlPush {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(block: entry.encoded)
        writer.write(UInt16(truncatingIfNeeded: wraps.count))
        for wrap in wraps { writer.write(block: wrap.encoded) }
        writer.write(option: ownWrap)
        writer.write(option: revision?.encoded)
        writer.write(option: children?.encoded)
    }

    fileprivate init(from reader: inout ByteReader, leavesOut: Bool) throws {
        let entry = try reader.controlEntry()
        let wraps = try reader.list(Int(reader.uint16()), in: 0...NotePush.maximumWrapCount) { try $0.wrap() }
        let ownWrap = try reader.option { try $0.block(atMost: NotePush.maximumOwnWrapByteCount) }
        let revision = try reader.option { try $0.revision() }
        let children = try reader.option { try $0.childList() }
        let leftOut = leavesOut ? try reader.childList() : ChildList([])
        guard leavesOut != leftOut.children.isEmpty else { throw NoteBodyError.invalidField }
        self.init(
            entry: entry, wraps: wraps, ownWrap: ownWrap, revision: revision, children: children, leftOut: leftOut)
    }
}

extension ByteReader {
    mutating func controlEntry() throws -> ControlEntry {
        try ControlEntry(decoding: block(atMost: ControlEntry.maximumByteCount))
    }

    mutating func revision() throws -> RevisionRecord {
        try RevisionRecord(decoding: block(atMost: RevisionRecord.maximumByteCount))
    }

    mutating func child() throws -> ChildRecord {
        try ChildRecord(decoding: block(atMost: ChildRecord.maximumByteCount))
    }

    mutating func wrap() throws -> WrapRecord {
        try WrapRecord(decoding: block(atMost: WrapRecord.maximumByteCount))
    }

    mutating func childList() throws -> ChildList {
        try ChildList(decoding: block(atMost: NotePush.maximumChildListByteCount))
    }
}
