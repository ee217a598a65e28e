public import DeviceIdentity
public import KeyTransparency

/// What the log's entries about one account's recovery add up to. The server follows these rules when it takes an entry,
/// and every client when it reads them, so that a server that does not is found out.
///
/// One request at a time; the next needs the one before cancelled or expired. A cancelled request is over for good, and
/// freezes new ones for a day.
public struct RecoveryTimeline: Hashable, Sendable {
    /// How long nothing may start after an objection, in seconds.
    public static let freeze: UInt64 = 86_400

    /// How it stands.
    public enum Standing: Hashable, Sendable {
        /// Nothing is under way.
        case quiet
        /// A request waits, or may be fulfilled from `notBefore` to `expires`.
        case underWay(LoggedRecovery, expires: UInt64)
        /// A device objected; nothing may start before this time.
        case frozen(until: UInt64)
    }

    /// The account.
    public let label: LabelIndex
    private var last: Standing = .quiet
    private var cancelled: Set<[UInt8]> = []

    /// Nothing happened yet.
    public init(label: LabelIndex) { self.label = label }

    /// How it stands at a time, in seconds since 1970.
    public func standing(at now: UInt64) -> Standing {
        switch last {
        case .underWay(_, let expires) where now >= expires: .quiet
        case .frozen(let end) where now >= end: .quiet
        default: last
        }
    }

    /// The recovery that a succession or a release may rest on at a time; nil when there is none in force.
    public func logged(at now: UInt64) -> LoggedRecovery? {
        if case .underWay(let logged, _) = standing(at: now) { logged } else { nil }
    }

    /// Takes the next entry of the account, in the order of the log.
    ///
    /// - Parameters:
    ///   - time: when the log took it, in seconds since 1970.
    ///   - delay: what the account's state committed to then.
    /// - Throws: ``RecoveryTimelineError``: the entry breaks a rule; nothing changed.
    public mutating func take(
        _ entry: RecoveryLogEntry, at time: UInt64, delay: UInt32
    ) throws(RecoveryTimelineError) {
        guard entry.label == label else { throw .anotherAccount }
        switch entry {
        case .start(_, let request, let notBefore, let expires):
            try checkStart(request, notBefore, expires, time, delay)
            last = .underWay(
                LoggedRecovery(uncheckedRequest: request, notBefore: notBefore), expires: expires)
        case .cancel(_, let request):
            guard case .underWay(let logged, _) = standing(at: time), logged.request == request else {
                throw .nothingToCancel
            }
            cancelled.insert(request)
            let (end, overflow) = time.addingReportingOverflow(Self.freeze)
            last = .frozen(until: overflow ? .max : end)
        }
    }

    private func checkStart(
        _ request: [UInt8], _ notBefore: UInt64, _ expires: UInt64, _ time: UInt64, _ delay: UInt32
    ) throws(RecoveryTimelineError) {
        switch standing(at: time) {
        case .underWay: throw .anotherUnderWay
        case .frozen(let end): throw .frozen(until: end)
        case .quiet: break
        }
        guard !cancelled.contains(request) else { throw .cancelledBefore }
        let (earliest, overflow) = time.addingReportingOverflow(UInt64(delay))
        guard !overflow, notBefore >= earliest else { throw .tooEarly(earliest: overflow ? .max : earliest) }
        let (latest, isEndless) = earliest.addingReportingOverflow(RecoveryRequest.lifetimeAfterDelay)
        guard !isEndless, expires <= latest else { throw .livesTooLong(latest: isEndless ? .max : latest) }
    }
}

/// Why an entry about a recovery does not belong into the log.
public enum RecoveryTimelineError: Error, Hashable, Sendable {
    /// It is about another account.
    case anotherAccount
    /// A request is under way. Cancel it, or wait until it expires.
    case anotherUnderWay
    /// A device objected to the last one. Nothing starts before then.
    case frozen(until: UInt64)
    /// This very request was cancelled.
    case cancelledBefore
    /// The time for objections would be shorter than the account committed to.
    case tooEarly(earliest: UInt64)
    /// The request would live longer than a week after the delay.
    case livesTooLong(latest: UInt64)
    /// No such request is in force: it never was, it expired, or it was fulfilled.
    case nothingToCancel
}
