// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import KeyTransparency

/// Who has a note and under which key, after some entry of its control log.
///
/// The rules are here for every party that applies an entry: the client that makes it, the server that stores it, and
/// every client that reads it.
public struct ControlState: Hashable, Sendable {
    /// The most members beside the owner.
    public static let maximumMemberCount = 10_000

    /// Whose state it is.
    public let note: NoteID
    /// The one who may change it.
    public private(set) var owner: Handle
    /// All other members.
    public private(set) var members: [Handle: NoteRole]
    /// Of the note's key, from 1.
    public private(set) var epoch: UInt32
    /// What the key of each epoch is recognised by; index 0 is epoch 1.
    public private(set) var keyCommitments: [[UInt8]]
    /// The last revision and the children of each epoch that is over; index 0 is epoch 1.
    public private(set) var closings: [EpochClosing]
    /// Members who are said to have left. It changes no right, so that a forged statement does no harm: a client that
    /// has verified the statement acts on it, and the owner removes them.
    public private(set) var departed: Set<Handle> = []
    /// Whether the note is gone.
    public private(set) var isDeleted = false
    /// The number of the last entry.
    public private(set) var number: UInt64
    /// Its hash.
    public private(set) var head: RecordHash

    /// The state after a note's first entry.
    ///
    /// - Throws: ``ControlError/noBeginning``.
    public init(first entry: ControlEntry) throws(ControlError) {
        guard case .create(let commitment) = entry.action, entry.number == 1, entry.previous == .none else {
            throw .noBeginning
        }
        note = entry.note
        owner = entry.author.handle
        members = [:]
        epoch = 1
        keyCommitments = [commitment]
        closings = []
        number = 1
        head = entry.hash
    }

    /// What `handle` may do; nil if nothing.
    public func role(of handle: Handle) -> NoteRole? { handle == owner ? .writer : members[handle] }

    /// Whether the server, which took the word of a current device for a leaving, still gives and takes anything.
    public func isServed(_ handle: Handle) -> Bool { role(of: handle) != nil && !departed.contains(handle) }

    /// The state after one more entry.
    ///
    /// - Throws: ``ControlError``: the entry does not follow, or breaks a rule.
    public func applying(_ entry: ControlEntry) throws(ControlError) -> ControlState {
        var state = self
        try state.apply(entry)
        return state
    }

    /// Applies one more entry in place, without a copy of the members. After an error the state is void.
    mutating func apply(_ entry: ControlEntry) throws(ControlError) {
        guard entry.note == note else { throw .anotherNote }
        let (next, overflow) = number.addingReportingOverflow(1)
        guard !overflow, entry.number == next, entry.previous == head else {
            throw .brokenChain(number: entry.number)
        }
        if let rule = violation(entry) { throw .refused(number: entry.number, rule) }
        number = next
        head = entry.hash
    }

    /// Applies the action; the rule that it breaks, if any.
    private mutating func violation(_ entry: ControlEntry) -> ControlRule? {
        guard !isDeleted else { return .notDeleted }
        guard entry.author.handle == owner || entry.action == .leave else { return .authorIsOwner }
        switch entry.action {
        case .create: return .createdOnce
        case .leave: return leave(entry.author.handle)
        case .share(let handle, let role): return share(handle, role)
        case .unshare(let handle, let rekeying):
            guard members.removeValue(forKey: handle) != nil else { return .isMember }
            departed.remove(handle)
            return rekey(rekeying)
        case .rekey(let rekeying): return rekey(rekeying)
        case .transfer(let handle):
            guard !departed.contains(handle), members.removeValue(forKey: handle) != nil else { return .isMember }
            members[owner] = .writer
            owner = handle
        case .delete: isDeleted = true
        }
        return nil
    }

    private mutating func share(_ handle: Handle, _ role: NoteRole) -> ControlRule? {
        let isAgain = departed.contains(handle)
        guard handle != owner, members[handle].map({ isAgain ? $0 <= role : $0 < role }) ?? true else {
            return .shareAdds
        }
        members[handle] = role
        departed.remove(handle)
        return members.count <= Self.maximumMemberCount ? nil : .memberCount
    }

    /// A member leaves once, and the owner cannot leave, because the note would have no owner.
    private mutating func leave(_ handle: Handle) -> ControlRule? {
        guard members[handle] != nil, !departed.contains(handle) else { return .isMember }
        departed.insert(handle)
        return nil
    }

    private mutating func rekey(_ rekeying: Rekeying) -> ControlRule? {
        let (next, overflow) = epoch.addingReportingOverflow(1)
        guard !overflow, rekeying.epoch == next else { return .epochStepsByOne }
        guard rekeying.members == memberHash else { return .membersAreStated }
        guard !keyCommitments.contains(rekeying.keyCommitment) else { return .keyIsNew }
        epoch = next
        keyCommitments.append(rekeying.keyCommitment)
        closings.append(EpochClosing(revisionHead: rekeying.revisionHead, children: rekeying.children))
        return nil
    }

    /// SHA-256 over owner and members: owner's handle, then each member's handle and role in the order of the bytes.
    public var memberHash: RecordHash {
        var writer = ByteWriter()
        writer.write("signet-note-members/v1\n")
        writer.write(owner)
        for handle in members.keys.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            writer.write(handle)
            writer.write(members[handle]?.rawValue ?? 0)
        }
        return RecordHash(of: writer.bytes)
    }

    /// The state's members as they will be without `handle`: what an unsharing states.
    public func memberHash(without handle: Handle) -> RecordHash {
        var state = self
        state.members[handle] = nil
        return state.memberHash
    }
}

/// What counts of an epoch that is over.
public struct EpochClosing: Hashable, Sendable {
    /// Its last revision, or the last of an epoch before; ``RecordHash/none`` if there was none.
    public let revisionHead: RecordHash
    /// Hash of the ``ChildList`` of all children up to it.
    public let children: RecordHash
}
