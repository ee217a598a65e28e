// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
package import TransparencyLog
package import VerifiableMap

/// A small directory with a past: bob; alice, who then added a device; dave. Carol is not registered.
package struct PaperScene: Sendable {
    /// Alice now, at version 2, with one device more than before.
    package let alice: PaperPerson
    /// Alice at version 1.
    package let aliceBefore: PaperPerson
    /// Bob, at version 1 with one device.
    package let bob: PaperPerson
    /// A person who is not registered.
    package let carol: Handle
    /// The directory.
    package var directory: PaperDirectory

    /// - Parameters:
    ///   - deviceCount: how many devices alice had at first.
    ///   - isFork: another log of the same size and of the same people, who came in another order.
    ///   - recorded: signatures made earlier, as in ``PaperPerson/recorded``.
    package init(deviceCount: Int = 2, isFork: Bool = false, recorded: [[UInt8]: [UInt8]] = [:]) throws {
        bob = try PaperPerson("bob@example.org", seed: 20, deviceCount: 1, recorded: recorded)
        aliceBefore = try PaperPerson("alice@example.org", seed: 10, deviceCount: deviceCount, recorded: recorded)
        alice = try aliceBefore.next(devices: aliceBefore.devices + [PaperPerson.device(9, seed: 19)])
        carol = try Handle(typed: Array("carol@example.org".utf8))
        directory = try PaperDirectory()
        let people = isFork ? [aliceBefore, bob, alice] : [bob, aliceBefore, alice]
        for person in people { try directory.publish(person) }
        try directory.publish(PaperPerson("dave@example.org", seed: 30, recorded: recorded))
    }

    /// Alice's history with some entries, by their leaves, in place of the honest ones.
    package func aliceHistory(_ edit: (inout [TreeHash]) throws -> Void = { _ in }) throws -> MerkleTree {
        let honest = directory.histories.tree(of: try directory.key(alice.handle), size: directory.histories.size)
        var leaves = try (0..<honest.size).map { try honest.hash(level: 0, index: $0) }
        try edit(&leaves)
        var tree = MerkleTree()
        for leaf in leaves { tree.append(leaf) }
        return tree
    }

    /// Ends an epoch in whose index alice's label has this history, or none.
    package mutating func lie(_ history: MerkleTree?) throws {
        let key = try directory.key(alice.handle)
        let value = try history.map { LabelHead(try $0.head(size: $0.size)).value }
        try directory.endEpoch(lieInIndex: { $0[key] = value })
    }
}

extension EpochRecord {
    /// The record with some fields replaced.
    package func with(
        number: UInt64? = nil, time: UInt64? = nil, start: UInt64? = nil, labelCount: UInt64? = nil,
        milestone: UInt64? = nil, root: MapHash? = nil
    ) -> EpochRecord {
        EpochRecord(
            number: number ?? self.number, time: time ?? self.time, start: start ?? self.start,
            labelCount: labelCount ?? self.labelCount, milestone: milestone ?? self.milestone,
            root: root ?? self.root)
    }
}
