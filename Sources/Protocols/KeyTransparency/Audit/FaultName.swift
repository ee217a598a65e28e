// SPDX-License-Identifier: Apache-2.0

/// The rules that a log can break, each by one word, as evidence names them.
public enum FaultName: String, Hashable, Sendable, CaseIterable {
    /// ``IndexFault/unknownEntry(at:)``.
    case unknownEntry = "unknown-entry"
    /// ``IndexFault/version(label:expected:found:at:)``.
    case version
    /// ``IndexFault/secondStep(label:at:)``.
    case secondStep = "second-step"
    /// ``IndexFault/stepAfterClose(label:at:)``.
    case stepAfterClose = "step-after-close"
    /// ``IndexFault/unsettled(label:)``.
    case unsettled
    /// ``IndexFault/noEpochRecord(size:)``.
    case noEpochRecord = "no-epoch-record"
    /// ``IndexFault/epochFields(found:expected:)``.
    case epochFields = "epoch-fields"
    /// ``IndexFault/indexRoot(found:expected:)``.
    case indexRoot = "index-root"
    /// ``IndexFault/timeRunsBack(from:to:at:)``.
    case timeRunsBack = "time-runs-back"
    /// ``IndexFault/successionNumber(expected:found:at:)``.
    case successionNumber = "succession-number"
    /// ``IndexFault/afterTheEnd(at:)``.
    case afterTheEnd = "after-the-end"
    /// ``IndexFault/predecessorTooLate(at:)``.
    case predecessorTooLate = "predecessor-too-late"

    /// The name of a fault; nil for ``IndexFault/tooLarge`` and ``IndexFault/noStateRecord``, which no log shows.
    public init?(_ fault: IndexFault) {
        switch fault {
        case .unknownEntry: self = .unknownEntry
        case .version: self = .version
        case .secondStep: self = .secondStep
        case .stepAfterClose: self = .stepAfterClose
        case .unsettled: self = .unsettled
        case .noEpochRecord: self = .noEpochRecord
        case .epochFields: self = .epochFields
        case .indexRoot: self = .indexRoot
        case .timeRunsBack: self = .timeRunsBack
        case .successionNumber: self = .successionNumber
        case .afterTheEnd: self = .afterTheEnd
        case .predecessorTooLate: self = .predecessorTooLate
        case .tooLarge, .noStateRecord: return nil
        }
    }
}
