// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// An identity that guardians give back, step by step.
extension FirstPages {
    private enum Step: Int, CaseIterable {
        case asking, calling, waiting

        var name: HTML {
            switch self {
            case .asking: "Who you are"
            case .calling: "Call your guardians"
            case .waiting: "Wait and finish"
            }
        }
    }

    private func steps(_ current: Step) -> HTML {
        let items = Step.allCases.map { step -> HTML in
            let isDone = step.rawValue < current.rawValue
            return """
                <li\(HTML.when(isDone, " class=\"done\""))\(HTML.when(step == current, " aria-current=\"step\""))>\(step.name)\
                \(HTML.when(isDone, "<span class=\"quiet\">, done</span>"))</li>
                """
        }
        return "<ol class=\"steps\" aria-label=\"Steps\">\(items)</ol>"
    }

    // MARK: Asking

    func recover(_ form: FormBody?, _ advice: Advice?, _ open: OpenHome?) -> WebAnswer {
        let context = context
        let content: HTML = """
            \(Part.crumb("Back", context.to(.start)))\(steps(.asking))<div class="head"><div><h1>Recover your identity</h1>\
            <p class="lead">On this new device, with the help of people whom you chose. You need nothing from the old one.</p></div></div>\
            \(problem(advice))\(asking(form, open, context))\
            <p class="small muted">Your other devices, if someone else has them, can stop this once the first guardian has confirmed.</p>
            """
        return page("Recover your identity", advice, content)
    }

    private func asking(_ form: FormBody?, _ open: OpenHome?, _ context: PageContext) -> HTML {
        context.fileForm(
            .first(.recover), as: "card",
            """
            \(FirstForm.whose(form, open))\
            \(Part.field(
                "What guardians see this device called", name: "name", value: form?["name"] ?? "new device"))\
            \(Part.text(
                "The guardians whom you remember", name: "guardians", value: form?["guardians"] ?? "", rows: 3,
                help: "One handle in a line, or with commas. Once any is named, codes are shown only for those named."))\
            \(Part.text(
                "The paper of your guardians", name: "paper", value: form?["paper"] ?? "", rows: 2,
                help: "If you wrote it down, the recovery begins at once. Otherwise leave it empty."))\
            <label class="choice"><input type="checkbox" name="former" value="yes"\
            \(HTML.when(form?["former"] != nil, " checked"))>Ask only if the guardians from before the last change may still help</label>\
            \(FirstForm.passphrase(form, open))\
            <div class="line apart"><a href="\(context.to(.start))">Back</a>\
            \(Part.button("Ask for my identity", as: "button main"))</div>
            """)
    }

    func takeRecover(_ form: FormBody, _ open: OpenHome?) async -> WebAnswer {
        let wanted: FirstForm
        do { wanted = try FirstForm(form, open, wording) } catch { return recover(form, error.advice, open) }
        guard let named = Self.handles(in: form["guardians"] ?? "") else {
            return recover(form, Self.noHandle, open)
        }
        let name = (form["name"] ?? "").trimmed
        guard (1...RecoveryRequest.maximumNameByteCount).contains(name.utf8.count) else {
            return recover(
                form,
                Advice(
                    "That name is empty or too long.", means: "No one was asked.",
                    "At most \(RecoveryRequest.maximumNameByteCount) bytes."), open)
        }
        let paper = (form["paper"] ?? "").trimmed
        let askKey = AskKey(paper: Array((paper + "\n").utf8))
        guard paper.isEmpty || askKey != nil else {
            return recover(
                form,
                Advice(
                    "That is not what 'signet guardians paper' wrote.", means: "No one was asked.",
                    "Copy all of it, or leave the field empty: a guardian can let you begin."), open)
        }
        do throws(SignetError) {
            try await home.recover(
                wanted.handle, at: wanted.profile, wanted.keys, calling: name, with: paper.isEmpty ? nil : askKey,
                naming: named, withFormer: form["former"] != nil)
        } catch {
            let advice = wording.advice(error, in: await reopened(open))
            return recover(form, advice, home.folder.keystore.exists ? await reopened(open) : nil)
        }
        return .see(WebPath(.first(.recover), below: mount))
    }

    private static let noHandle = Advice(
        "One of the guardians is not a handle.", means: "No one was asked.",
        "A handle looks like ana@example.org, and each stands in a line of its own.")

    /// The handles in lines; nil if one is none.
    private static func handles(in text: String) -> [Handle]? {
        var handles: [Handle] = []
        for line in text.split(whereSeparator: { "\n, ;".contains($0) }).map({ String($0) }) where !line.isEmpty {
            guard let handle = try? Handle(typed: Array(line.utf8)) else { return nil }
            handles.append(handle)
        }
        return handles
    }

    // MARK: Under way

    /// How it stands. The directory is asked each time that the page is opened.
    ///
    /// - Parameter advice: why something was not done.
    func recovering(
        _ open: OpenHome, _ advice: Advice?, naming guardians: [Handle] = []
    ) async -> WebAnswer {
        let progress: RecoveryProgress?
        do throws(SignetError) { progress = try await home.progress(naming: guardians) } catch {
            return stuck(error, open)
        }
        guard let progress else { return closed(open, advice) }
        let words = wording.words(progress)
        let context = context
        let isReady = progress.start != nil && progress.standing.missing == 0 && progress.isWaitOver
        let isEnding: Bool =
            switch progress.stage {
            case .collecting, nil: false
            case .succeeding, .rearming, .done: true
            }
        let content: HTML = """
            \(steps(isReady || isEnding ? .waiting : .calling))<div class="head"><div><h1>\
            \(isEnding ? "Enough guardians have helped" : isReady ? "The wait is over" : "Call your guardians")</h1>\
            <p class="lead">For \(open.keystore?.handle.description ?? ""). You can close this page; it is found again.</p></div></div>\
            \(problem(advice))\(isEnding ? HTML.none : standing(progress, words, open, context))\
            \(isReady || isEnding ? end(context) : again(context))\
            \(HTML.when(!isEnding, naming(words, context)))
            """
        return page("Recover your identity", advice, content)
    }

    private func standing(
        _ progress: RecoveryProgress, _ words: RecoveryWords, _ open: OpenHome, _ context: PageContext
    ) -> HTML {
        let handle = open.keystore?.handle.description ?? ""
        let number: HTML = HTML.when(
            progress.start == nil,
            """
            <p>Your request is number <b class="code-field">\(progress.number.text)</b>. Nothing has begun yet. Call one of your guardians and \
            read them that number. They open <b>Guardians</b> and look for \(handle) there, or run \
            <code>signet guardian confirm \(handle) --request "\(progress.number.text)"</code>.</p>
            """)
        let answers = words.answers.map { mark, words -> HTML in
            let icon: HTML =
                switch mark {
                case .helped: Part.icon("check")
                case .undecided: Part.icon("clock")
                case .wrong: Part.icon("cross")
                }
            return "<li class=\"row\">\(icon)<p class=\"grow\">\(Part.remedy(words, context))</p></li>"
        }
        let codes = words.codes.map { guardian, code -> HTML in
            """
            <li class="row"><div class="grow"><h3>Read this to \(guardian), by telephone or in person</h3>\
            <p class="code-field strong">\(code)</p></div></li>
            """
        }
        return """
            <section class="card" aria-labelledby="standing"><h2 id="standing">\(words.count ?? "Your request")</h2>\(number)\
            <ul class="list">\(answers)\(codes)</ul><p class="muted">\(words.deadline)</p></section>
            """
    }

    private func again(_ context: PageContext) -> HTML {
        """
        <p class="line"><a class="button main" href="\(context.to(.first(.recover)))">Look again</a></p>
        """
    }

    private func end(_ context: PageContext) -> HTML {
        """
        <section class="card" aria-labelledby="end"><div><h2 id="end">Make the identity yours again</h2><p class="muted">Every device \
        from before is removed from the account. Your people, notes and sites come back here.</p></div>\
        \(context.form(
            .first(.finish), as: "section",
            """
            \(Part.passphrase("For this act alone: to make the identity yours again."))\
            <div class="line end">\(Part.button("Finish", as: "button main"))</div>
            """))</section>
        """
    }

    private func naming(_ words: RecoveryWords, _ context: PageContext) -> HTML {
        """
        <section class="card" aria-labelledby="who"><div><h2 id="who">Name a guardian</h2>\
        \([words.others, words.strangers].compactMap { $0 }.map { "<p class=\"muted\">\($0)</p>" as HTML })</div>\
        \(context.form(
            .first(.guardians), as: "section",
            """
            \(Part.text(
                "Whom you remember", name: "guardians", value: "", rows: 2,
                help: "One handle in a line, or with commas. Codes are shown only for guardians who are named."))\
            <div class="line end">\(Part.button("Name them"))</div>
            """))</section>
        """
    }

    /// The keys are closed: after a break, or a new start of the program.
    private func closed(_ open: OpenHome, _ advice: Advice?) -> WebAnswer {
        let context = context
        let content: HTML = """
            \(steps(.calling))<div class="head"><div><h1>Go on recovering your identity</h1><p class="lead">For \
            \(open.keystore?.handle.description ?? ""). What was begun on this device is still there.</p></div></div>\(problem(advice))\
            \(context.form(
                .first(.resume), as: "card",
                """
                \(Part.passphrase("The one that you chose on this device."))\
                <div class="line end">\(Part.button("Go on", as: "button main"))</div>
                """))
            """
        return page("Go on recovering", advice, content)
    }

    /// It cannot go on now. What was stopped, or is too old, is asked for anew, with the same keys.
    private func stuck(_ error: SignetError, _ open: OpenHome) -> WebAnswer {
        let context = context
        let advice = wording.advice(error, in: open)
        let isPassing = error.family == .environment
        let content: HTML = """
            \(steps(.calling))\(Part.notice(advice, error.tone, context, isPage: true))\
            \(again(context))\(HTML.when(
                !isPassing,
                """
                <section class="section" aria-labelledby="anew"><h2 id="anew">Ask again</h2>\
                \(asking(nil, open, context))</section>
                """))
            """
        return .page(EntryPages.page("Recover your identity", "\(said)\(content)"), status: isPassing ? 503 : 422)
    }

    func takeResume(_ form: FormBody, _ open: OpenHome?) async -> WebAnswer {
        guard let open else { return .see(WebPath(.start, below: mount)) }
        do throws(SignetError) {
            try await home.resume(open, SecretBytes(copying: (form["passphrase"] ?? "").utf8))
        } catch { return closed(open, wording.advice(error, in: open)) }
        return .see(WebPath(.first(.recover), below: mount))
    }

    func takeGuardians(_ form: FormBody, _ open: OpenHome?) async -> WebAnswer {
        guard let open else { return .see(WebPath(.start, below: mount)) }
        guard let named = Self.handles(in: form["guardians"] ?? "") else {
            return await recovering(open, Self.noHandle)
        }
        return await recovering(open, nil, naming: named)
    }

    func takeFinish(_ form: FormBody, _ open: OpenHome?) async -> WebAnswer {
        guard let open else { return .see(WebPath(.start, below: mount)) }
        let recovered: RecoveredAccount
        do throws(SignetError) {
            recovered = try await home.finish(SecretBytes(copying: (form["passphrase"] ?? "").utf8))
        } catch { return await recovering(open, wording.advice(error, in: open)) }
        let things = recovered.things
        let missing = wording.shortfall(things).map { " \($0)" as HTML }
        session.say(
            """
            \(open.keystore?.handle.description ?? "Your identity") is yours again, on this device alone. \
            Back: people, \(things.people.count); notes, \(recovered.noteCount); sites, \(things.sites.count).\(missing) \
            You have no guardians now: choose them.
            """)
        return .see(WebPath(.home, below: mount))
    }
}
