// SPDX-License-Identifier: Apache-2.0

/// Compares a note as this device has it with what the log says of it: the log has what a server withholds from a
/// member.
public enum LoggedHeadVerifier {
    /// Checks, in this order: control log, revisions, children.
    ///
    /// - Parameters:
    ///   - logged: where the note stood when the root was taken.
    ///   - revisions: all that came and follow one another, believed or not, from the first on.
    ///   - children: hashes of all comments and stars that came, believed or not.
    ///   - list: the list that the logged head names; nil if it was not asked for.
    /// - Returns: what is here and not logged yet, by hash: of entries and revisions the first. The server has an hour.
    /// - Throws: ``LoggedHeadError``.
    public static func verify(
        _ logged: VerifiedNoteHead, control: VerifiedControl, revisions: [RevisionRecord],
        children: Set<RecordHash>, list: ChildList?
    ) throws(LoggedHeadError) -> Set<RecordHash> {
        guard let head = logged.head else { return Set(control.entries.prefix(1).map(\.hash)) }
        var missing = try check(control, head.control)
        missing.formUnion(try check(revisions, head.revision))
        missing.formUnion(try check(children, head.children, list))
        return missing
    }

    private static func check(
        _ control: VerifiedControl, _ logged: ControlView
    ) throws(LoggedHeadError) -> Set<RecordHash> {
        guard control.state.number >= logged.number else { throw .newerControl(number: logged.number) }
        guard control.holds(logged) else { throw .otherControl(number: logged.number) }
        return Set(control.entries.dropFirst(Int(logged.number)).prefix(1).map(\.hash))
    }

    private static func check(
        _ revisions: [RevisionRecord], _ logged: RevisionView?
    ) throws(LoggedHeadError) -> Set<RecordHash> {
        guard let logged else { return Set(revisions.prefix(1).map(\.hash)) }
        guard logged.number <= revisions.count else { throw .newerRevision(number: logged.number) }
        let place = Int(logged.number) - 1
        guard revisions[place].hash == logged.head else { throw .otherRevision(number: logged.number) }
        return Set(revisions.dropFirst(place + 1).prefix(1).map(\.hash))
    }

    private static func check(
        _ children: Set<RecordHash>, _ logged: RecordHash, _ list: ChildList?
    ) throws(LoggedHeadError) -> Set<RecordHash> {
        if ChildList(children).hash == logged { return [] }
        if ChildList([]).hash == logged { return children }
        guard let list else { throw .noList }
        guard list.hash == logged else { throw .otherList }
        let kept = list.children.subtracting(children)
        guard kept.isEmpty else { throw .keptComments(count: kept.count) }
        return children.subtracting(list.children)
    }
}

/// Why a note as it came is not what the log says of it. The server keeps something back, or shows two histories.
public enum LoggedHeadError: Error, Hashable, Sendable {
    /// The list of who may read and write it goes on to this entry, which did not come.
    case newerControl(number: UInt64)
    /// Another entry is logged than the one that came. Both are evidence.
    case otherControl(number: UInt64)
    /// It has a revision of this number, which did not come.
    case newerRevision(number: UInt64)
    /// Another revision is logged than the one that came. Both are evidence.
    case otherRevision(number: UInt64)
    /// The comments that came are others than the log names, and the list of those was not asked for.
    case noList
    /// The list that came is not the one that the log names.
    case otherList
    /// This many comments or stars are logged that did not come.
    case keptComments(count: Int)
}
