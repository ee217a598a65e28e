// SPDX-License-Identifier: Apache-2.0

import Signet
import TransparencyLog

/// Proofs that can be kept, handed on, and checked without any server.
extension WebPages {
    // MARK: Saving one

    /// The files of the proof that the page of checks shows.
    func savingProof(of handle: Handle, _ context: PageContext) -> HTML {
        let links = ProofFile.allCases.map { file -> HTML in
            let name: HTML =
                switch file {
                case .proof: "The proof"
                case .entry: "The entry of the log"
                case .policy: "Whose signatures count"
                }
            return """
                <li>\(Part.icon("file")) <a href="\(context.to(.proof(handle), [("file", file.rawValue)]))">\(name)</a></li>
                """
        }
        return """
            <section class="card"><h2>Keep the proof</h2><p class="muted">Who has these files can check them without any server, today or \
            in years.</p><ul class="stack">\(links)</ul><p class="small"><a href="\(context.to(.checkProof))">Check a proof</a></p></section>
            """
    }

    func proof(_ handle: Handle, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        guard let file = request.query["file"].flatMap(ProofFile.init),
            let proof = try await account.proof(about: handle)
        else { return .see(WebPath(.checks(handle), below: mount)) }
        let policy = await account.home.profile.trust.policy
        return SavedFile.answer(
            named: Array("\(handle).\(file.ending)".utf8), file.bytes(of: proof, under: policy))
    }

    // MARK: Checking one

    func checkProof(_ request: WebRequest, _ advice: Advice?) async -> WebAnswer {
        let context = await context(request.session)
        return .page(
            context.page(
                "Check a proof", in: .people, isNarrow: true,
                Self.proofForm(advice, context)),
            status: advice == nil ? 200 : 422)
    }

    private static func proofForm(_ advice: Advice?, _ context: PageContext) -> HTML {
        """
        \(Part.crumb("People", context.to(.people)))<div class="head"><div><h1>Check a proof</h1><p class="lead">This device checks the files. \
        No server is asked.</p></div></div>\(advice.map { Part.notice($0, .alarm, context) } ?? .none)\(context.fileForm(
            .checkProof, as: "card",
            """
            <div class="field"><label for="proof">The proof</label><input id="proof" name="proof" type="file" required>\
            <p class="help">A C2SP tlog-proof: its name ends in <code>.tlog-proof</code>.</p></div>\
            <div class="field"><label for="entry">The entry that should be in the log</label><input id="entry" name="entry" type="file" \
            required></div>\
            <div class="field"><label for="policy">Whose signatures count</label><input id="policy" name="policy" type="file">\
            <p class="help">A policy, or the file of a directory. Without one, the log and the witnesses of your own directory count. Do not \
            take it from somebody whom you would not believe anyway.</p></div>\
            <div class="line end">\(Part.button("Check it", as: "button main"))</div>
            """))
        """
    }

    func takeProof(_ form: FormBody, _ request: WebRequest) async -> WebAnswer {
        guard let proofFile = form.file("proof"), let entryFile = form.file("entry") else {
            return await checkProof(request, Advice("A file is missing.", "Choose the proof and its entry."))
        }
        let policy: Policy
        if let file = form.file("policy") {
            do { policy = try Policy(inFile: Array(file.content)) } catch {
                return await checkProof(request, wording.advice(error, named: ShownText.of(Array(file.name.utf8))))
            }
        } else {
            policy = await account.home.profile.trust.policy
        }
        let proof: LookupProof
        do throws(TlogProofError) {
            proof = try LookupProof(proof: Array(proofFile.content), entry: Array(entryFile.content))
        } catch { return await checkProof(request, wording.advice(error)) }
        do throws(TlogProofVerificationError) {
            return await proven(proof, try proof.verified(under: policy), form.file("policy"), request)
        } catch { return await checkProof(request, wording.advice(error)) }
    }

    private func proven(
        _ proof: LookupProof, _ checkpoint: VerifiedCheckpoint, _ file: FormBody.File?, _ request: WebRequest
    ) async -> WebAnswer {
        let context = await context(request.session)
        let judged: HTML =
            file.map {
                "By what the file <bdi>\(ShownText.of(Array($0.name.utf8)))</bdi> says, not by your own directory: whoever made that file may have made the log, too."
            } ?? "By the policy of your own directory."
        let facts = wording.words(proof, checkpoint).map { "<li>\($0.sentence)</li>" as HTML }
        let content: HTML = """
            \(Part.crumb("Check a proof", context.to(.checkProof)))<section class="notice notice-good" role="status">\(Part.icon("check"))\
            <div><h1>The proof holds</h1><ul class="stack">\(facts)<li>\(judged)</li></ul></div></section>\
            <section class="card"><h2>What this does not prove</h2><ul class="plain-list">\
            <li>Whose entry it is: the entry hides the handle.</li>\
            <li>That it is the newest: the log may have grown since.</li></ul></section>
            """
        return .page(context.page("The proof holds", in: .people, isNarrow: true, content))
    }
}
