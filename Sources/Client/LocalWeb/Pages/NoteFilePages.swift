// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet
import Synchronization

/// Files of notes, and all notes as one sealed file.
extension WebPages {
    // MARK: Attaching

    /// The form with which a file is attached, or where the file is that is on its way.
    func attaching(_ note: NoteFacts, _ upload: FileUpload?, _ context: PageContext) -> HTML {
        guard note.standing == .owner || note.standing == .writer, note.document != nil else { return .none }
        if let upload {
            return """
                <p>\(Part.icon("clock")) <a href="\(context.to(.attach(note.note)))"><bdi>\(ShownText.of(upload.name))</bdi> is on its \
                way</a></p>
                """
        }
        return context.fileForm(
            .attach(note.note), as: "line bottom",
            """
            <div class="grow"><div class="field"><label for="file">Attach a file</label><input id="file" name="file" type="file" required>\
            <p class="help">At most \(Int(AttachedFile.maximumByteCount >> 20)) MiB. It is sealed here, with its name, before it is sent.</p></div></div>\(Part.button("Attach"))
            """)
    }

    /// The form with which one is taken off.
    func detaching(_ file: AttachmentManifest, _ note: NoteFacts, _ context: PageContext) -> HTML {
        guard note.standing == .owner || note.standing == .writer else { return .none }
        return context.form(
            .detach(note.note), as: "line",
            """
            <input type="hidden" name="blob" value="\(file.blob.digits)"><button class="button small-button" type="submit" \
            aria-label="Take off \(file.nameText)">Take off</button>
            """)
    }

    func takeAttachment(
        _ note: NoteID, _ form: FormBody, _ request: WebRequest
    ) async throws(SignetError) -> WebAnswer {
        guard let file = form.file("file"), !file.content.isEmpty else {
            return try await self.note(
                note, request, Advice("No file was chosen, or it is empty.", "Choose one below."))
        }
        guard file.content.count <= AttachedFile.maximumByteCount else {
            let advice = Advice(
                "The file is longer than \(AttachedFile.maximumByteCount >> 20) MiB.", means: "Nothing was attached.",
                "Attach it in a terminal, once this page is locked: 'signet notes attach'.")
            return try await self.note(note, request, advice)
        }
        let upload = FileUpload(AttachedFile(file), to: note)
        _ = try await account.needed()
        // What came of a file before may not have been told yet: this page may have been open for long.
        if let before = await account.upload(to: note), case .refused(let advice)? = await account.takeEnd(of: before) {
            let both = Advice(
                advice.what, means: "The file that you have chosen now is not attached either.", advice.remedy)
            return try await self.note(note, request, both)
        }
        guard await account.begin(upload, { await attach(upload) }) else {
            let advice = Advice(
                "Another file is on its way to this note.", means: "This one was not attached.",
                "Attach it once the other one is there.")
            return try await self.note(note, request, advice)
        }
        // Most files are there at once.
        for _ in 0..<20 where upload.end == nil { await account.surroundings.wait(.milliseconds(50)) }
        guard upload.end != nil else { return .see(WebPath(.attach(note), below: mount)) }
        return try await attachment(note, request)
    }

    private func attach(_ upload: FileUpload) async -> FileUpload.End {
        do throws(SignetError) {
            try await account.notes { book throws(NotesError) in
                try await book.attach(
                    name: upload.name, mediaType: Array("application/octet-stream".utf8),
                    byteCount: UInt64(upload.byteCount), to: upload.note, reading: upload.piece)
            }
        } catch { return .refused(await advice(error)) }
        return .attached(
            await send(upload.note) ?? "\(ShownText.of(upload.name)) is attached, sealed and sent.")
    }

    /// How far a file is on its way to a note, or what came of it.
    func attachment(_ note: NoteID, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        guard let upload = await account.upload(to: note) else { return .see(WebPath(.note(note), below: mount)) }
        switch await account.takeEnd(of: upload) {
        case .attached(let said):
            request.session.say(said)
            return .see(WebPath(.note(note), below: mount))
        case .refused(let advice): return try await self.note(note, request, advice)
        case nil:
            let context = await context(request.session)
            let (done, all) = (upload.sealedByteCount, upload.byteCount)
            let content: HTML = """
                \(Part.crumb("The note", context.to(.note(note))))<div class="head"><div><h1>A file is on its way</h1>\
                <p class="lead">It is sealed here, piece by piece, and sent. You can leave this page: it goes on.</p></div></div>\
                <section class="card"><p class="strong"><bdi>\(ShownText.of(upload.name))</bdi></p>\
                <progress max="\(all)" value="\(done)" aria-label="How much of the file is sealed"></progress>\
                <p class="small muted">\(Self.mebibytes(done)) of \(Self.mebibytes(all)) MiB sealed</p></section>
                """
            return .live(
                context.page(
                    "A file is on its way", in: .notes, isNarrow: true, live: context.to(.attach(note)), content))
        }
    }

    /// With one digit behind the point, such as `1.5`.
    private static func mebibytes(_ count: Int) -> String {
        let tenths = (count * 10 + (1 << 20) - 1) >> 20
        return "\(tenths / 10).\(tenths % 10)"
    }

    func takeDetachment(
        _ note: NoteID, _ form: FormBody, _ request: WebRequest
    ) async throws(SignetError) -> WebAnswer {
        let facts = try await account.notes { book throws(NotesError) in try await book.facts(note) }
        guard let blob = form["blob"].flatMap({ NoteID(digits: $0) }),
            let file = facts.document?.attachments.first(where: { $0.blob == blob })
        else { return .see(WebPath(.note(note), below: mount)) }
        do throws(SignetError) {
            try await account.notes { book throws(NotesError) in try await book.detach(file, from: note) }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await self.note(note, request, await advice(error))
        }
        request.session.say(await send(note) ?? "The file is taken off. Who has fetched it still has it.")
        return .see(WebPath(.note(note), below: mount))
    }

    // MARK: All notes

    func exportNotes(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        let context = await context(request.session)
        _ = try await account.needed()
        let content: HTML = """
            \(Part.crumb("Notes", context.to(.notes)))<div class="head"><div><h1>Export your notes</h1><p class="lead">One sealed file with all \
            notes that open here, and their files. <code>signet notes import</code> reads it with the passphrase that you choose now.</p></div>\
            </div>\(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.form(
                .exportNotes, as: "card",
                """
                <div class="field"><label for="passphrase">Passphrase of the file</label><input id="passphrase" name="passphrase" \
                type="password" autocomplete="new-password" required><p class="help">Whoever has the file can guess as often as they like: \
                choose five or six words that do not belong together.</p></div>\
                <div class="field"><label for="again">The same again</label><input id="again" name="again" type="password" \
                autocomplete="new-password" required></div><div class="line end"><a class="button" href="\(context.to(.notes))">Cancel</a>\
                \(Part.button("Save the file", as: "button main"))</div>
                """))
            """
        return .page(
            context.page("Export your notes", in: .notes, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    func takeExport(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let typed = form["passphrase"] ?? ""
        guard typed == form["again"] else { return try await exportNotes(request, wording.differingPassphrases) }
        let passphrase = SecretBytes(copying: typed.utf8)
        if let weakness = SecretWeakness.first(of: passphrase) {
            return try await exportNotes(request, await advice(.weakPassphrase(weakness)))
        }
        let bytes = Mutex<[UInt8]>([])
        let report: ExportReport
        do throws(SignetError) {
            report = try await account.notes { book throws(NotesError) in
                try await book.export(under: passphrase) { piece in
                    bytes.withLock { all in
                        guard all.count + piece.count <= AttachedFile.maximumExportByteCount else { return false }
                        all += piece
                        return true
                    }
                }
            }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            guard case .notes(.bundle(.notWritten)) = error else {
                return try await exportNotes(request, await advice(error))
            }
            let advice = Advice(
                "The notes and their files are more than \(AttachedFile.maximumExportByteCount >> 20) MiB, too much for this page.",
                means: "Nothing was saved.",
                "Export them in a terminal, once this page is locked: 'signet notes export'.")
            return try await exportNotes(request, advice)
        }
        guard report.missingFiles.isEmpty else {
            let names = report.missingFiles.map { "‘\(ShownText.of($0.name))’" }.joined(separator: ", ")
            return try await exportNotes(
                request,
                Advice(
                    "The server does not show \(names).", means: "Nothing was saved, for a part would be missing.",
                    "Take the file off its note, or export in a terminal, where the rest is written: 'signet notes export'."
                ))
        }
        return SavedFile.answer(named: Array("notes.signet-export".utf8), bytes.withLock { $0 })
    }
}

/// A file that was chosen in a form.
struct AttachedFile: Sendable {
    /// No longer file is taken by a page, in bytes: it is in this process's memory as a whole.
    static let maximumByteCount = SavedFile.maximumByteCount
    /// The same for all notes together.
    static let maximumExportByteCount = 256 << 20

    let name: [UInt8]
    let content: ArraySlice<UInt8>

    /// Browsers name a file without the folder that it is in. What stands before a slash is left out all the same.
    init(_ file: FormBody.File) {
        let last = file.name.split(separator: "/").last.map(String.init) ?? ""
        (name, content) = (Array((last.isEmpty ? "file" : last).utf8), file.content)
    }

    /// A piece of it; nil behind the end.
    @Sendable func piece(_ index: Int) -> [UInt8]? {
        let start = content.startIndex + index * AttachmentManifest.chunkByteCount
        guard index >= 0, start < content.endIndex else { return nil }
        return Array(content[start..<min(start + AttachmentManifest.chunkByteCount, content.endIndex)])
    }
}
