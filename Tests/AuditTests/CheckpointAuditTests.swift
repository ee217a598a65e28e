// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

@Suite struct CheckpointAuditTests {
    @Test func anHonestLogIsSoundAtEveryEpoch() throws {
        let log = try ForgedLog()
        var audit = CheckpointAudit()
        for epoch in 0..<5 {
            try log.grow(epochs: 1, people: 3, from: UInt64(epoch * 2))
            for entry in log.entries[Int(audit.size)...] { audit.add(entry) }
            #expect(audit.finding(at: try log.tree.head(size: log.size)) == .sound)
            #expect(audit.lastEpoch?.number == UInt64(epoch) + 1)
        }
        #expect(audit.labelCount == 11)
    }

    @Test func theEmptyLogIsSound() {
        #expect(CheckpointAudit().finding(at: .empty) == .sound)
    }

    @Test(arguments: ForgedFault.allCases) func eachFaultIsFoundUnderItsName(_ fault: ForgedFault) throws {
        let log = try ForgedLog()
        try log.grow(epochs: 2, people: 3)
        try log.commit(fault)
        guard case .fault(let found, let place) = try log.finding() else {
            Issue.record("\(try log.finding())")
            return
        }
        #expect(FaultName(found) == fault.name)
        #expect(place <= log.size)
    }

    @Test func unsignedEntriesAreNoFaultOfTheLog() throws {
        let log = try ForgedLog()
        try log.grow(epochs: 2, people: 3)
        let signed = try log.tree.head(size: log.size)
        var audit = CheckpointAudit()
        for entry in log.entries.dropLast() { audit.add(entry) }
        audit.add(Array("made up on the way".utf8))
        let isBroken = audit.isBroken
        #expect(isBroken)
        #expect(audit.finding(at: signed) == .otherEntries(computed: audit.head.root))
    }

    @Test func aCheckpointOfAnotherSizeIsReportedAsOtherEntries() throws {
        let log = try ForgedLog()
        try log.grow(epochs: 2, people: 3)
        var audit = CheckpointAudit()
        for entry in log.entries { audit.add(entry) }
        #expect(audit.finding(at: try log.tree.head(size: 7)) == .otherEntries(computed: audit.head.root))
    }

    @Test func theFirstFaultIsReportedAfterFurtherEntries() throws {
        let log = try ForgedLog()
        try log.grow(epochs: 1, people: 3)
        try log.commit(.unknownEntry)
        try log.grow(epochs: 3, people: 2, from: 50)
        guard case .fault(.unknownEntry(let index), let place) = try log.finding() else {
            Issue.record("\(try log.finding())")
            return
        }
        #expect(index == 7 && place == 7)
    }
}
