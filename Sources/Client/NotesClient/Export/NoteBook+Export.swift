// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
public import SecretMemory
public import SignetClient

/// What an export holds.
public struct ExportReport: Sendable {
    /// How many notes are in it.
    public internal(set) var noteCount = 0
    /// How many files of theirs are in it, whole.
    public internal(set) var fileCount = 0
    /// How many notes are closed here and left out.
    public internal(set) var closedCount = 0
    /// Files that the server does not show, or not wholly, each with its note.
    public internal(set) var missingFiles: [(note: NoteFacts, name: [UInt8])] = []
}

extension NoteBook {
    /// Seals all notes that open here under a passphrase, with their files, which are fetched on the way.
    ///
    /// - Parameters:
    ///   - isWithFiles: whether files are fetched; without, no network is needed.
    ///   - write: takes the export's bytes in order; false stops.
    /// - Throws: ``NotesError``: what was written until then is not an export. A file that the server does not show stops nothing.
    public func export(
        under passphrase: SecretBytes, cost: KeystoreCost = NotesBundle.standardCost, isWithFiles: Bool = true,
        writing write: ([UInt8]) -> Bool
    ) async throws(NotesError) -> ExportReport {
        let bundle = try bundled { () throws(BundleError) in
            try NotesBundle(sealingUnder: passphrase, cost: cost, salt: surroundings.randomBytes(16))
        }
        guard write(bundle.head) else { throw .bundle(.notWritten) }
        var (writer, report) = (BundleWriter(bundle), ExportReport())
        for facts in notes() {
            guard let note = BundledNote(facts) else {
                report.closedCount += 1
                continue
            }
            try bundled { () throws(BundleError) in try writer.write(note, write) }
            report.noteCount += 1
            guard isWithFiles, facts.hasFilesAtServer else { continue }
            for (number, file) in (facts.document?.attachments ?? []).enumerated() {
                try await add(file, UInt8(truncatingIfNeeded: number), of: facts, to: &writer, &report, write)
            }
        }
        try bundled { () throws(BundleError) in try writer.end(write) }
        return report
    }

    /// A file is fetched piece by piece; where the server shows no more of it, the export says so and goes on.
    private func add(
        _ file: AttachmentManifest, _ number: UInt8, of note: NoteFacts, to writer: inout BundleWriter,
        _ report: inout ExportReport, _ write: ([UInt8]) -> Bool
    ) async throws(NotesError) {
        try bundled { () throws(BundleError) in try writer.beginFile(number, write) }
        var (copy, fault): (BundleWriter, BundleError?) = (writer, nil)
        var isWhole = true
        do throws(NotesError) {
            try await fetch(file, of: note.note) { content in
                do throws(BundleError) { try copy.writeFile(content, write) } catch { fault = error }
                return fault == nil
            }
        } catch {
            switch error {
            case .isGone, .locked: isWhole = false
            default: throw error
            }
        }
        if let fault { throw .bundle(fault) }
        writer = copy
        try bundled { () throws(BundleError) in try writer.endFile(isWhole: isWhole, write) }
        if isWhole { report.fileCount += 1 } else { report.missingFiles.append((note, file.name)) }
    }

    private func bundled<Value>(_ step: () throws(BundleError) -> Value) throws(NotesError) -> Value {
        do { return try step() } catch { throw .bundle(error) }
    }
}

extension NoteFacts {
    /// Of a note that was taken back or deleted, the server shows nothing any more.
    fileprivate var hasFilesAtServer: Bool {
        switch standing {
        case .owner, .writer, .reader: true
        case .removed, .left, .deleted, .unknown: false
        }
    }
}
