// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// Answers admitted requests. A form that was taken ends in another page; one that was not is given back as it was typed.
struct WebPages: Sendable {
    let account: WebAccount
    let wording: any WebWording
    let mount: String
    let now: @Sendable () -> UInt64

    /// - Parameter form: of a form that the gate has admitted.
    func answer(_ head: WebHead, _ form: FormBody?, _ session: WebSession) async -> WebAnswer {
        guard let route = WebRoute(Array(head.parts.dropFirst())) else {
            let context = await context(session)
            return .page(
                context.page("No such page", in: .home, isNarrow: true, Self.unknown(context)), status: 404)
        }
        let request = WebRequest(route: route, query: head.query, form: form, session: session)
        do throws(SignetError) {
            return if let form { try await take(form, request) } else { try await show(request) }
        } catch .presence(.locked) {
            // What was typed comes back on its page, once the account is open.
            if let form, !request.isUnlocking { session.keep(form.kept, of: route.page) }
            return .see(WebPath(.unlock, below: mount, [("to", Self.written(route.page))]))
        } catch {
            let context = await context(session)
            return await refused(error, context, in: route)
        }
    }

    private func show(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        switch request.route {
        case .home: try await home(request)
        case .unlock: await unlock(request, nil)
        case .people: try await people(request, nil)
        case .person(let handle): try await person(handle, request)
        case .compare(let handle): try await compare(handle, request, nil)
        case .change(let handle): try await change(handle, request, nil)
        case .checks(let handle): try await checks(handle, request)
        case .proof(let handle): try await proof(handle, request)
        case .checkProof: await checkProof(request, nil)
        case .notes: try await notes(request)
        case .newNote: try await newNote(request, nil)
        case .note(let note): try await self.note(note, request, nil)
        case .edit(let note): try await edit(note, request, nil)
        case .share(let note): try await share(note, request, nil)
        case .unshare(let note): try await unshare(note, request, nil)
        case .leave(let note): try await leave(note, request, nil)
        case .history(let note): try await history(note, request)
        case .file(let note): try await file(note, request)
        case .attach(let note): try await attachment(note, request)
        case .guardians: try await guardians(request, nil)
        case .chooseGuardians: try await chooseGuardians(request, nil)
        case .askGuardians: try await askGuardians(request, nil)
        case .careForGuardians: try await careForGuardians(request, nil)
        case .guardian(let owner): try await guardian(owner, request, nil)
        case .decline(let owner): try await decline(owner, request, nil)
        case .recovery: try await recovery(request, nil)
        case .devices: try await devices(request)
        case .addDevice: try await addDevice(request, nil)
        case .removeDevice(let number): try await removeDevice(number, request, nil)
        case .settings: await settings(request)
        case .calls: try await calls(request, nil)
        case .call: try await call(request)
        case .cards: try await cards(request, nil)
        case .showCard: try await showCard(request, nil)
        case .ownCard: try await ownCard(request, nil)
        case .offeredCard: try await offeredCard(request, nil)
        case .sites: try await sites(request)
        case .meet: try await meet(request, nil)
        case .meetingReceipt: try await meetingReceipt(request)
        case .contactCard: try await contactCard(request)
        case .exportNotes: try await exportNotes(request, nil)
        case .lock, .addPerson, .askGuardiansAll, .accept, .block, .sync, .comment, .star, .newCall, .answerCall,
            .steerCall,
            .detach,
            .showOwnCard, .walletCard, .carriedCards, .knownSites, .showMeeting,
            .joinMeeting, .meetingWords, .endMeeting:
            .see(WebPath(request.route.page, below: mount))
        case .start, .first: .see(WebPath(.home, below: mount))
        }
    }

    private func take(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        switch request.route {
        case .unlock: return await takeUnlock(form, request)
        case .lock:
            await account.lock()
            request.session.say("The account is locked, and its keys are out of memory.")
            return .see(WebPath(.home, below: mount))
        case .addPerson: return try await takeAdd(form, request)
        case .accept(let handle): return try await takeAccept(handle, request)
        case .block(let handle): return try await takeBlock(handle, request)
        case .checkProof: return await takeProof(form, request)
        case .compare(let handle): return try await takeCompare(handle, form, request)
        case .change(let handle): return try await takeChange(handle, form, request)
        case .sync: return try await takeSync(request)
        case .newNote: return try await takeNew(form, request)
        case .edit(let note): return try await takeEdit(note, form, request)
        case .share(let note): return try await takeShare(note, form, request)
        case .unshare(let note): return try await takeUnshare(note, form, request)
        case .leave(let note): return try await takeLeave(note, request)
        case .addDevice: return try await takeDevice(form, request)
        case .removeDevice(let number): return try await takeRemoval(number, form, request)
        case .comment(let note): return try await takeComment(note, form, request)
        case .star(let note): return try await takeStar(note, form, request)
        case .guardians: return try await takeGuardians(form, request)
        case .askGuardians: return try await takeAsk(form, request)
        case .careForGuardians: return try await takeCare(form, request)
        case .askGuardiansAll: return try await takeAskAll(request)
        case .newCall: return try await takeNewCall(form, request)
        case .answerCall: return try await takeAnswer(form, request)
        case .steerCall: return try await takeSteering(form, request)
        case .guardian(let owner): return try await takeGuardian(owner, form, request)
        case .decline(let owner): return try await takeDecline(owner, form, request)
        case .recovery: return try await takeRecovery(form, request)
        case .cards: return try await takeLink(form, request)
        case .showCard: return try await takeShowing(form, request)
        case .ownCard: return try await takeOwnCard(form, request)
        case .showOwnCard: return try await takeShownCard(form, request)
        case .walletCard: return try await takeWalletCard(form, request)
        case .carriedCards: return try await takeCarriedCards(form, request)
        case .offeredCard: return try await takeOffer(form, request)
        case .sites: return try await takeSite(form, request)
        case .showMeeting: return try await takeShowing(ofMeeting: form, request)
        case .joinMeeting: return try await takeJoining(form, request)
        case .meetingWords: return try await takeWords(form, request)
        case .endMeeting: return try await takeEnd(request)
        case .knownSites: return try await takeKnownSites(form, request)
        case .attach(let note): return try await takeAttachment(note, form, request)
        case .detach(let note): return try await takeDetachment(note, form, request)
        case .exportNotes: return try await takeExport(form, request)
        case .start, .first: return .see(WebPath(.home, below: mount))
        case .home, .people, .person, .checks, .proof, .notes, .note, .history, .file, .chooseGuardians, .devices,
            .settings,
            .calls,
            .call, .contactCard, .meet, .meetingReceipt:
            return .plain(405, "This page takes no form.")
        }
    }

    // MARK: Around the content

    func context(_ session: WebSession) async -> PageContext {
        let isUnlocked = await account.opened() != nil
        let home = await account.home
        let trouble = await account.trouble
        let since = await account.lastContact
        return PageContext(
            mount: mount, formToken: session.formToken, handle: home.keystore?.handle, isUnlocked: isUnlocked,
            ringing: await account.ringing().map(\.caller), waitingCount: await account.waitingCount,
            // A page that looks for news does not use up the sentence.
            message: WebAccount.isWatching ? nil : session.takeMessage(),
            offline: trouble.map { (wording.advice($0, in: home), since) }, now: now())
    }

    func advice(_ error: SignetError) async -> Advice { wording.advice(error, in: await account.home) }

    /// A page that only says why.
    private func refused(_ error: SignetError, _ context: PageContext, in route: WebRoute) async -> WebAnswer {
        let advice = await advice(error)
        let again: HTML =
            "<p class=\"line\"><a class=\"button main\" href=\"\(context.to(route.page))\">Try again</a></p>"
        let isPassing = error.family == .environment
        return .page(
            context.page(
                "\(advice.what)", in: route.section, isNarrow: true,
                Part.notice(advice, error.tone, context, isPage: true, isPassing ? again : .none)),
            status: isPassing ? 503 : 422)
    }

    private static func unknown(_ context: PageContext) -> HTML {
        Part.notice(
            Advice("There is no such page.", "Take one of the list beside this, or below it."), .known, context,
            isPage: true,
            "<p class=\"line\"><a class=\"button main\" href=\"\(context.to(.home))\">Home</a></p>")
    }

    /// A route as the field `to` of the unlock page has it.
    static func written(_ route: WebRoute) -> String { route.parts.joined(separator: "/") }

    /// The page to go on with after unlocking: one of the app's own, whatever the field says.
    func wanted(_ text: String?) -> WebRoute {
        WebRoute((text ?? "").split(separator: "/").map(String.init))?.page ?? .home
    }
}

/// An admitted request for one route.
struct WebRequest: Sendable {
    let route: WebRoute
    let query: FormBody
    let form: FormBody?
    let session: WebSession

    var isUnlocking: Bool { route == .unlock }
}

extension WebRoute {
    /// The entry of the navigation that it belongs to.
    var section: WebRoute {
        switch self {
        case .home, .unlock, .lock: .home
        case .sites, .knownSites: .sites
        case .meet, .showMeeting, .joinMeeting, .meetingWords, .endMeeting, .meetingReceipt: .meet
        case .people, .addPerson, .contactCard, .person, .accept, .block, .compare, .change, .checks,
            .proof, .checkProof:
            .people
        case .notes, .newNote, .sync, .note, .edit, .share, .unshare, .leave, .history, .file, .comment, .star, .attach,
            .detach,
            .exportNotes:
            .notes
        case .guardians, .chooseGuardians, .askGuardians, .careForGuardians, .askGuardiansAll, .guardian, .decline:
            .guardians
        case .recovery, .start, .first: .home
        case .devices, .addDevice, .removeDevice: .devices
        case .settings: .settings
        case .calls, .newCall, .answerCall, .call, .steerCall: .calls
        case .cards, .showCard, .ownCard, .showOwnCard, .walletCard, .carriedCards, .offeredCard: .cards
        }
    }
}

extension SignetError {
    /// How loud it is.
    var tone: Part.Tone {
        switch family {
        case .peer: .alarm
        case .environment, .bug: .changed
        case .caller: .known
        }
    }
}
