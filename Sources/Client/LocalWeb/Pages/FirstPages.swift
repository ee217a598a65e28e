// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// The pages of a home without an account: a new identity, another device of an existing one, or an identity from guardians. What was begun is in the
/// folder, so that it can be left and is found again, also after the program was started again.
struct FirstPages: Sendable {
    let home: WebHome
    let wording: any WebWording
    let mount: String
    let session: WebSession
    let now: @Sendable () -> UInt64

    /// - Parameters:
    ///   - stage: what the folder has.
    ///   - open: the folder, if it has keys.
    func answer(
        _ route: WebRoute?, _ form: FormBody?, _ stage: HomeStage, _ open: OpenHome?
    ) async -> WebAnswer {
        guard case .first(let step)? = route, Self.steps(of: stage).contains(step) else {
            let known = Self.place(of: stage)
            return route == known ? start(stage, open) : .see(WebPath(known, below: mount))
        }
        guard let form else { return await show(step, stage, open) }
        return switch step {
        case .new: await takeNew(form, open)
        case .join, .remake: await takeJoin(form, step, open)
        case .confirm: await takeConfirmation(form, open)
        case .recover: await takeRecover(form, open)
        case .resume: await takeResume(form, open)
        case .guardians: await takeGuardians(form, open)
        case .finish: await takeFinish(form, open)
        case .card: .plain(405, "This page takes no form.")
        }
    }

    /// Where the person is with what the folder has.
    static func place(of stage: HomeStage) -> WebRoute {
        switch stage {
        case .empty, .keysMade, .account: .start
        case .joining: .first(.join)
        case .recovering: .first(.recover)
        }
    }

    private static func steps(of stage: HomeStage) -> Set<FirstStep> {
        switch stage {
        case .empty: [.new, .join, .recover]
        case .keysMade: [.new, .recover]
        case .joining: [.join, .card, .remake, .confirm]
        case .recovering: [.recover, .resume, .guardians, .finish]
        case .account: []
        }
    }

    private func show(_ step: FirstStep, _ stage: HomeStage, _ open: OpenHome?) async -> WebAnswer {
        switch (step, stage, open) {
        case (.new, _, _): newIdentity(nil, nil, open)
        case (.join, .joining, let open?): await waiting(open, nil, nil)
        case (.join, _, _): join(nil, nil)
        case (.card, _, let open?): await card(open)
        case (.recover, .recovering, let open?): await recovering(open, nil)
        case (.recover, _, _): recover(nil, nil, open)
        default: .see(WebPath(.first(step.page), below: mount))
        }
    }

    // MARK: The start

    private func start(_ stage: HomeStage, _ open: OpenHome?) -> WebAnswer {
        let context = context
        let begun: HTML =
            open?.keystore.map { keystore in
                Part.notice(
                    Advice(
                        "Keys for \(keystore.handle) were made here, and no account has them yet.",
                        means: "What was begun was interrupted. The keys are in this folder, and nothing is lost.",
                        "Go on with one of these, with the same passphrase."), .known, context)
            } ?? .none
        let join: HTML = HTML.when(
            stage == .empty,
            row(
                .join, "device", "I have Signet on another device", "That device adds this one. Have it at hand.",
                context))
        let content: HTML = """
            <div class="head"><div><h1>Welcome</h1><p class="lead">Signet knows your friends by their own keys. No server can pass off \
            other people as them.</p></div></div>\(said)\(begun)<ul class="list">\
            \(row(.new, "plus", "I am new here", "A handle, a passphrase, and the file of a directory.", context))\
            \(join)\
            \(row(
                .recover, "guard", "I have lost my devices", "Your guardians give you your identity back. It takes days.",
                context))</ul><p class="small muted">This is the home folder <code>\(home.folder.path)</code>.</p>
            """
        return .page(EntryPages.page("Welcome", content))
    }

    private func row(
        _ step: FirstStep, _ icon: StaticString, _ name: HTML, _ more: HTML, _ context: PageContext
    ) -> HTML {
        """
        <li><a class="row" href="\(context.to(.first(step)))">\(Part.icon(icon))<span class="grow"><span class="strong">\(name)</span>\
        <span class="small muted">\(more)</span></span>\(Part.icon("next"))</a></li>
        """
    }

    // MARK: Around the content

    var context: PageContext {
        PageContext(
            mount: mount, formToken: session.formToken, handle: nil, isUnlocked: false, ringing: [], waitingCount: 0,
            message: nil,
            offline: nil, now: now())
    }

    /// What was just done.
    var said: HTML {
        session.takeMessage().map { "<p class=\"said\" role=\"status\">\(Part.icon("check")) \($0)</p>" } ?? .none
    }

    func page(_ title: HTML, _ advice: Advice?, _ content: HTML) -> WebAnswer {
        .page(EntryPages.page(title, "\(said)\(content)"), status: advice == nil ? 200 : 422)
    }

    /// What is wrong with a form.
    func problem(_ advice: Advice?) -> HTML { advice.map { Part.notice($0, .changed, context) } ?? .none }

    /// A page that only says why the folder cannot be read.
    func broken(_ error: SignetError) -> WebAnswer {
        .page(
            EntryPages.page(
                "This home cannot be used",
                Part.notice(wording.advice(error, in: nil), error.tone, context, isPage: true)), status: 422)
    }

    /// The folder as it is now: what was tried may have made its keys.
    func reopened(_ open: OpenHome?) async -> OpenHome? {
        if let open { return open }
        return try? OpenHome(home.folder, isBeginning: true, in: home.surroundings)
    }
}
