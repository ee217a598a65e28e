// SPDX-License-Identifier: Apache-2.0

import LogFencing
import TransparencyLog

/// Everything that candidates, databases, the second memory and a witness are at one moment.
///
/// Time does not occur: a step can be any time after the one before it. So a paused process is one that does nothing for a while, a lease
/// may have run out at any moment, and a message can be on its way for as long as it likes.
struct World: Hashable {
    var candidates: [Candidate]
    /// The primary, and the standby to which it sends its rows. A standby that was promoted has one of its own, which answers at once.
    var nodes: [Node]
    /// The one object of the store that decides anything.
    var memory: TreeHead?
    /// What an honest witness has cosigned.
    var cosigned: TreeHead?
    /// Swaps of processes that are gone, still on their way.
    var delayed: [MemorySwap] = []
    var left: Budget
    var record = Record()

    init(_ budget: Budget, candidates count: Int) {
        candidates = (0..<count).map { _ in Candidate() }
        nodes = [Node(isPrimary: true), Node(isPrimary: false)]
        left = budget
    }
}

/// How often things that need no reason may still happen: the bound of the exploration.
struct Budget: Hashable {
    /// Claims are not made beyond this generation.
    var generations: UInt64 = 3
    /// Frames are not added beyond this number.
    var frames: UInt64 = 2
    var crashes = 1
    var restarts = 1
    var promotions = 1
    /// Connections that break, answers that are lost, and waits for a standby that are cancelled.
    var breaks = 1
}

/// A database server.
struct Node: Hashable {
    /// What its row says, with everything that was written to its disk.
    var row = LogRow.new
    /// Rows that its standby has not got yet, in order; the last is ``row``.
    var unsent: [LogRow] = []
    var isPrimary: Bool
    /// Whether a standby takes what it sends.
    var hasStandby = true
    /// The transaction that waits for the standby, and holds the lock on the row.
    var waiting: Waiting?
    /// Statements of connections that are gone, still on their way.
    var orphans: [Statement] = []
}

/// A transaction that is on the disk, but not acknowledged.
struct Waiting: Hashable {
    /// Who waits; nil if the connection is gone.
    var candidate: Int?
    let statement: Statement
}

enum Statement: Hashable {
    case claim
    case confirm(UInt64)
    case commit(CommitRequest)
    case publish(TreeHead, by: UInt64)
}

enum StatementState: Hashable {
    case sent
    /// On the disk of the node, waiting for its standby.
    case executed
}

/// A put of a signed note that succeeds only if the memory holds what was read there last.
struct MemorySwap: Hashable {
    let after: TreeHead?
    let next: TreeHead
}

/// One server that may lead.
struct Candidate: Hashable {
    enum Program: Hashable {
        case idle
        case takingOver(LogTakeover)
        case leading(LogLeadership)
        /// It has stopped, and a person must decide.
        case halted
    }

    var program = Program.idle
    var hasNeverRun = true
    var node = 0
    /// Whether the connection is still the one of the claim.
    var isConnected = false
    /// The frames it has, with the one that is under way to the database.
    var tree = Frames()
    var statement: Statement?
    var state = StatementState.sent
    /// A statement that waits for the one under way.
    var next: Statement?
    /// Whether it is about to read what was signed.
    var isRecalling = false
    var swap: MemorySwap?
    /// A note that it is about to send to the witness.
    var sending: TreeHead?
}

/// What has happened that must never be contradicted.
struct Record: Hashable {
    /// Every head that a quorum has acknowledged, in order.
    var acknowledged: [TreeHead] = [.empty]
    /// The newest generation whose claim was acknowledged.
    var claimed: UInt64 = 0
    /// The largest head whose note has left a process, or was put where others read.
    var signed: TreeHead?
    /// The largest head that a front end may have shown, and given receipts for.
    var shown = TreeHead.empty
}

/// What must never happen, by the invariants of the design.
enum Violation: String, Hashable, Error {
    case twoRootsSigned = "I1: two roots are signed for one size"
    case memoryFell = "I2: the second memory holds less than before"
    case signedUncommitted = "I3: a head is signed that no quorum has acknowledged"
    case receiptLost = "I4: a leader does not have what receipts were given for"
    case oldGenerationCommits = "I5: a generation commits after a later one was claimed"
    case twoCommits = "I5: two frames are acknowledged at one place"
    case shownUnpublished = "I6: a head can be shown that is not signed, remembered and witnessed"
    case stopWithoutLoss = "I10: a person is needed, though no store has lost anything"
    case batchTwice = "I11: a batch is in the log twice"
    case outOfTurn = "an answer to no question"
}

/// What is taken away from the rules or from the world: each must lead to a violation, or the exploration shows nothing.
struct Weakening: OptionSet, Hashable {
    let rawValue: Int

    /// The database compares the size alone.
    static let generationIgnored = Weakening(rawValue: 1 << 0)
    /// A head is signed when its frame is sent to the database.
    static let signedEarly = Weakening(rawValue: 1 << 1)
    /// A candidate believes the row that it reads, and claims nothing.
    static let believedEarly = Weakening(rawValue: 1 << 2)
    /// Nothing is put down outside of the database.
    static let noSecondMemory = Weakening(rawValue: 1 << 3)
    /// After an unknown commit the same batch is written again, on top of whatever the row says.
    static let unknownIsRetried = Weakening(rawValue: 1 << 4)
    /// After an unknown commit the row is read: if it has the frame, it is taken for committed.
    static let unknownIsRead = Weakening(rawValue: 1 << 5)
    /// The second memory takes every put.
    static let plainPut = Weakening(rawValue: 1 << 6)
    /// A larger head in the second memory stops a candidate, whoever leads by now.
    static let notConfirmed = Weakening(rawValue: 1 << 7)
    /// The database acknowledges what no standby has.
    static let asynchronous = Weakening(rawValue: 1 << 8)
    /// Witnesses do not tell a candidate what they have cosigned.
    static let witnessesAway = Weakening(rawValue: 1 << 9)
}
