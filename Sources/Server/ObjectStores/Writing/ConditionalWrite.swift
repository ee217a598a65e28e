// SPDX-License-Identifier: Apache-2.0

/// How one conditional write is brought to an end over a store that may lose answers: what to ask next, from what was answered.
///
/// A value: it waits for nothing. The same condition goes with each attempt, so that of all attempts at most one takes effect, however
/// late they arrive. A condition that fails may fail because of an own earlier attempt, so what is there is read and compared.
package struct ConditionalWrite: Hashable, Sendable {
    /// What to ask the store next.
    package enum Step: Hashable, Sendable {
        /// The write.
        case put
        /// What is there.
        case read
        /// Nothing more.
        case finished(End)
    }

    /// How it ended.
    package enum End: Hashable, Sendable {
        /// The store acknowledged it under this tag.
        case written(ObjectTag)
        /// The same bytes are there: of an earlier attempt, or of another writer.
        case same(ObjectTag)
        /// Something else is there, or nothing. If an attempt was without an answer, it may have been there in between.
        case other(StoredObject?)
        /// It was given up.
        case failed(ObjectFault)
    }

    /// What is written.
    package let bytes: [UInt8]
    /// What must hold.
    package let condition: PutCondition
    /// What to do next.
    package private(set) var step = Step.put
    /// How many attempts failed.
    package private(set) var failureCount = 0
    private let maximumFailureCount: Int
    private var mayHaveHappened = false

    /// - Parameter attempts: how often the store is asked at most, for the write and for a look together, before a failure is the end; 1 or more.
    package init(_ bytes: [UInt8], _ condition: PutCondition, attempts: Int) {
        (self.bytes, self.condition, maximumFailureCount) = (bytes, condition, max(1, attempts))
    }

    /// The store answered the write.
    package mutating func putAnswered(_ outcome: PutOutcome) {
        switch outcome {
        case .written(let tag): step = .finished(.written(tag))
        case .changed: step = .read
        }
    }

    /// The write failed.
    package mutating func putFailed(_ fault: ObjectFault) {
        if case .outcomeUnknown = fault { mayHaveHappened = true }
        failed(fault, then: .put)
    }

    /// The store said what is there, after the condition had failed.
    package mutating func readAnswered(_ object: StoredObject?) {
        switch (object, condition) {
        case (let object?, _) where object.bytes == bytes: step = .finished(.same(object.tag))
        // It was there a moment ago and was removed: the condition may hold now.
        case (nil, .ifAbsent): failed(.unavailable(.status(412, code: "")), then: .put)
        default: step = .finished(.other(object))
        }
    }

    /// The look at what is there failed.
    package mutating func readFailed(_ fault: ObjectFault) { failed(fault, then: .read) }

    private mutating func failed(_ fault: ObjectFault, then next: Step) {
        failureCount += 1
        let isOver = failureCount >= maximumFailureCount || !fault.isPassing
        step = isOver ? .finished(.failed(mayHaveHappened ? fault.asUnknown : fault)) : next
    }
}

extension ObjectFault {
    /// What a caller is told when an earlier attempt may have taken effect.
    fileprivate var asUnknown: ObjectFault {
        switch self {
        case .unavailable(let reason), .refused(let reason), .outcomeUnknown(let reason): .outcomeUnknown(reason)
        case .invalidPath, .tooLarge, .malformedAnswer, .contradiction: .outcomeUnknown(.status(0, code: ""))
        }
    }
}
