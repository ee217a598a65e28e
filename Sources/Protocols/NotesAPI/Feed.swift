// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import NoteLog

/// One thing that an account's devices learn.
///
/// Wire form: u8 kind. 1: block control entry, option of a block child list. 2: block revision. 3: block child. 4: block wrap.
/// 5: 16 note, u32 epoch, block own wrap. 6: block control entry. 7: 16 note. 8: block account head. 9: u64 version.
public enum FeedItem: NoteBody {
    /// A step of a note's control log; one that rekeys comes with the children that count.
    case control(ControlEntry, children: ChildList?)
    /// A revision.
    case revision(RevisionRecord)
    /// A comment or star.
    case child(ChildRecord)
    /// A note's key for one of the account's devices.
    case wrap(WrapRecord)
    /// A note's key for all of the account's devices, as one of them sealed it.
    case ownWrap(NoteID, epoch: UInt32, [UInt8])
    /// The step by which the account lost a note. No later one follows, unless it is shared again.
    case left(ControlEntry)
    /// The server says that its owner erased the note. No signature proves this.
    case gone(NoteID)
    /// A device's statement of where all notes stand.
    case accountHead(AccountHead)
    /// The wraps of the account master key are others now; their version.
    case accountKeys(version: UInt64)

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(kind)
        switch self {
        case .control(let entry, let children):
            writer.write(block: entry.encoded)
            writer.write(option: children?.encoded)
        case .revision(let revision): writer.write(block: revision.encoded)
        case .child(let child): writer.write(block: child.encoded)
        case .wrap(let wrap): writer.write(block: wrap.encoded)
        case .ownWrap(let note, let epoch, let wrap):
            writer.write(note.bytes)
            writer.write(epoch)
            writer.write(block: wrap)
        case .left(let entry): writer.write(block: entry.encoded)
        case .gone(let note): writer.write(note.bytes)
        case .accountHead(let head): writer.write(block: head.encoded)
        case .accountKeys(let version): writer.write(version)
        }
    }

    private var kind: UInt8 {
        switch self {
        case .control: 1
        case .revision: 2
        case .child: 3
        case .wrap: 4
        case .ownWrap: 5
        case .left: 6
        case .gone: 7
        case .accountHead: 8
        case .accountKeys: 9
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1: self = .control(try reader.controlEntry(), children: try reader.option { try $0.childList() })
        case 2: self = .revision(try reader.revision())
        case 3: self = .child(try reader.child())
        case 4: self = .wrap(try reader.wrap())
        case 5:
            self = .ownWrap(
                try reader.noteID(), epoch: try reader.uint32(),
                try reader.block(atMost: NotePush.maximumOwnWrapByteCount))
        case 6: self = .left(try reader.controlEntry())
        case 7: self = .gone(try reader.noteID())
        case 8: self = .accountHead(try reader.accountHead())
        case 9: self = .accountKeys(version: try reader.uint64())
        default: throw NoteBodyError.invalidField
        }
    }
}

/// Asks for what comes after a cursor. Wire form: u64 cursor, u16 limit.
public struct FeedRequest: NoteBody {
    /// The most items in one answer.
    public static let maximumLimit: UInt16 = 1000

    /// What the last answer gave as ``FeedPage/next``; 0 to begin again.
    public let cursor: UInt64
    /// How many at most, from 1 to ``maximumLimit``. Long items may make it fewer.
    public let limit: UInt16

    /// A question.
    public init(cursor: UInt64, limit: UInt16 = maximumLimit) {
        self.cursor = cursor
        self.limit = limit
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(cursor)
        writer.write(limit)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        cursor = try reader.uint64()
        limit = try reader.uint16()
        guard (1...Self.maximumLimit).contains(limit) else { throw NoteBodyError.invalidField }
    }
}

/// A piece of an account's feed.
///
/// Wire form: u64 next, u64 newest, u16 count, for each item u64 position, item.
public struct FeedPage: NoteBody {
    /// An item and where it stands.
    public struct Entry: Hashable, Sendable {
        /// The entry's place in the feed. Places rise; entries that are no longer stored leave gaps.
        public let position: UInt64
        /// What is new.
        public let item: FeedItem

        /// An entry.
        public init(position: UInt64, item: FeedItem) {
            self.position = position
            self.item = item
        }
    }

    /// In order.
    public let entries: [Entry]
    /// Ask with this next.
    public let next: UInt64
    /// The last position of the feed: more is there if it is greater than ``next``.
    public let newest: UInt64

    /// A page.
    public init(entries: [Entry], next: UInt64, newest: UInt64) {
        self.entries = entries
        self.next = next
        self.newest = newest
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(next)
        writer.write(newest)
        writer.write(UInt16(truncatingIfNeeded: entries.count))
        for entry in entries {
            writer.write(entry.position)
            entry.item.write(to: &writer)
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        next = try reader.uint64()
        newest = try reader.uint64()
        entries = try reader.list(Int(reader.uint16()), in: 0...Int(FeedRequest.maximumLimit)) {
            Entry(position: try $0.uint64(), item: try FeedItem(from: &$0))
        }
        let positions = entries.map(\.position) + [next]
        guard zip(positions, positions.dropFirst().dropLast()).allSatisfy({ $0 < $1 }),
            positions.dropLast().last ?? next <= next, next <= newest
        else { throw NoteBodyError.invalidField }
    }
}

/// The answer to a ``FeedRequest``. Wire form: u8 kind; 1: page; 2 and 3: nothing.
public enum FeedAnswer: NoteBody {
    /// What comes after the cursor.
    case page(FeedPage)
    /// The changes after the cursor are no longer kept: begin again at 0, and keep what is pending.
    case resyncRequired
    /// The cursor is ahead of the feed: the server lost what it had shown. Stop and tell the user.
    case serverWentBack

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        switch self {
        case .page(let page):
            writer.write(UInt8(1))
            page.write(to: &writer)
        case .resyncRequired: writer.write(UInt8(2))
        case .serverWentBack: writer.write(UInt8(3))
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1: self = .page(try FeedPage(from: &reader))
        case 2: self = .resyncRequired
        case 3: self = .serverWentBack
        default: throw NoteBodyError.invalidField
        }
    }
}

extension FeedAnswer {
    /// The wire form of a page whose items are in their wire form already, as a server keeps them.
    package static func encoded(
        page items: [(position: UInt64, item: [UInt8])], next: UInt64, newest: UInt64
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(1))
        writer.write(next)
        writer.write(newest)
        writer.write(UInt16(truncatingIfNeeded: items.count))
        for (position, item) in items {
            writer.write(position)
            writer.write(item)
        }
        return writer.bytes
    }
}

/// Waits until the feed is past a cursor. Wire form: u64 cursor, u8 seconds.
public struct WaitRequest: NoteBody {
    /// The longest wait, in seconds.
    public static let maximumSeconds: UInt8 = 25

    /// What the device has seen.
    public let cursor: UInt64
    /// How long at most, up to ``maximumSeconds``; 0 answers at once.
    public let seconds: UInt8

    /// A question.
    public init(cursor: UInt64, seconds: UInt8 = maximumSeconds) {
        self.cursor = cursor
        self.seconds = seconds
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(cursor)
        writer.write(seconds)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        cursor = try reader.uint64()
        seconds = try reader.uint8()
        guard seconds <= Self.maximumSeconds else { throw NoteBodyError.invalidField }
    }
}

/// Where the feed stands now. Wire form: u64.
public struct WaitAnswer: NoteBody {
    /// Its last position.
    public let newest: UInt64

    /// An answer.
    public init(newest: UInt64) { self.newest = newest }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) { writer.write(newest) }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws { newest = try reader.uint64() }
}
