// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SecretMemory
import Signet
import SignetCalls

/// The person's account behind the pages: locked until the passphrase is given, and again after a while without use.
actor WebAccount {
    /// How long the account stays open after the last use, in seconds.
    static let openSeconds: UInt64 = 900
    /// How many people at most are looked up while a page waits; those of the last minute are not looked up again.
    static let lookupsPerPage = 8

    private(set) var home: OpenHome
    /// What the daily checks found, oldest first.
    private(set) var findings: [WatchFinding] = []
    /// Whether the directory's keys were replaced since the account was opened.
    private(set) var hasNewDirectoryKeys = false
    /// What the directory showed about people, by this process.
    private(set) var seen: [Handle: SeenPerson] = [:]
    /// How many people need the user, as of the last page that counted them.
    private var needingCount = 0
    private var ringingCount = 0
    /// What people ask the user as their guardian, and when this was seen.
    var guardingSeen: (found: Guarding, time: UInt64)?
    /// Whether someone asks guardians for the user's own identity, and when the log was asked.
    var recoverySeen: (isUnderWay: Bool, time: UInt64)?
    /// The device that was added last, whose digits are still to be typed on it.
    private(set) var linked: LinkedDevice?
    /// What the directory's list said of people, when it was last read.
    private var statuses: [Handle: FriendStatus?] = [:]
    /// When the directory last answered, and why it has not answered since.
    private(set) var lastContact: UInt64?
    private(set) var trouble: SignetError?
    /// The result of the last sync of the notes.
    private(set) var lastSync: (report: SyncReport, time: UInt64)?

    /// The files on their way to notes.
    var uploads: [NoteID: FileUpload] = [:]
    /// The proofs of the lookups that pages have shown.
    var proofs: [Handle: LookupProof] = [:]
    /// What a site asks for, and what it would be shown, until the user has answered.
    var asked: AskedCard?
    /// What an issuer offers, until the user has answered.
    var offered: OfferedCard?

    let surroundings: Surroundings
    nonisolated let equipment: WebEquipment
    /// The calls of the open account.
    private var desk: CallDesk?
    private let meeting = MeetingDesk()
    private var account: Account?
    private var lastUse: UInt64 = 0
    private var tasks: [Task<Void, Never>] = []

    init(_ home: OpenHome, _ equipment: WebEquipment, in surroundings: Surroundings) {
        self.home = home
        self.equipment = equipment
        self.surroundings = surroundings
    }

    var handle: Handle? { home.keystore?.handle }

    /// How many things need the person, as of the last page that counted them.
    var waitingCount: Int {
        needingCount + ringingCount + alarms.count + requests.count + (recoverySeen?.isUnderWay == true ? 1 : 0)
    }

    /// The findings, without a recovery that has a page of its own.
    var alarms: [WatchFinding] {
        let findings = findings.filter { !restorations.contains($0) }
        guard recoverySeen != nil else { return findings }
        return findings.filter { if case .ownAccount(.recovery) = $0 { false } else { true } }
    }

    /// Those that say that this device has brought back what the directory had lost.
    var restorations: [WatchFinding] { findings.filter { if case .broughtAgain = $0 { true } else { false } } }

    // MARK: The passphrase

    /// Opens the account. Wrong passphrases are counted, also after the program was started again.
    func unlock(_ passphrase: SecretBytes) async throws(SignetError) {
        let approval = try await home.approval(of: .unlock) { _ in passphrase }
        guard await opened() == nil else { return }
        let opened = try await Account(home, approval.secrets)
        guard account == nil else { return await opened.close() }
        use(opened)
    }

    /// Goes on with an account that was just made, joined or recovered here.
    func begin(with opened: Account) async {
        await reached(opened)
        use(opened)
    }

    private func use(_ opened: Account) {
        (account, lastUse) = (opened, surroundings.now())
        let desk = CallDesk(opened, in: home.folder, with: equipment.voice, surroundings)
        self.desk = desk
        tasks = [
            Task { [weak self] in for await event in opened.events { await self?.note(event) } },
            Task { [weak self, surroundings] in
                while !Task.isCancelled, await self?.keepUp(opened) ?? false { await surroundings.wait(.seconds(60)) }
            },
            Task { await desk.begin() },
        ]
    }

    /// Closes the account: a call is left, and the keys are wiped.
    func lock() async {
        guard let account else { return }
        let desk = desk
        (self.account, self.desk, guardingSeen, linked, asked, offered) = (nil, nil, nil, nil, nil, nil)
        for upload in uploads.values { upload.stop() }
        for task in tasks { task.cancel() }
        tasks = []
        await desk?.close()
        await meeting.end()
        await account.close()
    }

    /// Whether a page looks for news by itself: that is no use of the account.
    @TaskLocal static var isWatching = false

    /// The open account, which stays open for longer; nil if it is locked.
    func opened() async -> Account? {
        guard let account else { return nil }
        guard await isInTime() else {
            await lock()
            return nil
        }
        if !Self.isWatching { lastUse = surroundings.now() }
        return account
    }

    /// Ends with the open account.
    func keep(_ task: Task<Void, Never>) { tasks.append(task) }

    /// A call is a use for as long as it lasts, and so is a file on its way.
    private func isInTime() async -> Bool {
        let now = surroundings.now()
        let isBusy = uploads.values.contains { $0.end == nil }
        if await desk?.running != nil || isBusy { lastUse = max(lastUse, now) }
        return now < lastUse + Self.openSeconds
    }

    /// The calls of the open account.
    func calls() async throws(SignetError) -> CallDesk {
        _ = try await needed()
        guard let desk else { throw .presence(.locked) }
        return desk
    }

    /// The meeting in person of the open account.
    func meetings() async throws(SignetError) -> MeetingDesk {
        _ = try await needed()
        return meeting
    }

    /// The calls that ring now.
    func ringing() async -> [IncomingCall] {
        let ringing = await desk?.ringing ?? []
        ringingCount = ringing.count
        return ringing
    }

    /// The call in which this device is.
    func runningCall() async -> TakenCall? { await desk?.running }

    /// The same, for what needs it.
    func needed() async throws(SignetError) -> Account {
        guard let account = await opened() else { throw .presence(.locked) }
        return account
    }

    /// Fetches notes and looks people up while the account is open.
    ///
    /// - Returns: whether it is still open.
    private func keepUp(_ opened: Account) async -> Bool {
        guard account === opened else { return false }
        guard await isInTime() else {
            if account === opened { await lock() }
            return false
        }
        _ = try? await sync(opened)
        _ = try? await guarding()
        await lookForRecovery()
        let people = (try? await home.people()) ?? []
        await lookUp(people, olderThan: 600, atMost: people.count)
        return account === opened
    }

    private func note(_ event: AccountEvent) {
        switch event {
        case .found(let finding): if !findings.contains(finding) { findings.append(finding) }
        case .directoryKeysChanged: hasNewDirectoryKeys = true
        case .friendsLogNotProven, .guardiansBehind: break
        }
    }

    // MARK: People

    /// All people, with their states. If the directory cannot be asked, the states are those that this device remembers, and ``trouble`` says why.
    func everybody() async throws(SignetError) -> [PersonEntry] {
        var people: [KnownPerson]?
        // A page that looks for news every few seconds asks the directory once a minute.
        let isRecent = Self.isWatching && surroundings.now() < (lastContact ?? 0) + 60
        if let account = await opened(), !isRecent {
            do throws(SignetError) {
                people = try await account.people()
                statuses = Dictionary(people?.map { ($0.handle, $0.status) } ?? []) { first, _ in first }
                await reached(account)
            } catch { missed(error) }
        }
        let known: [KnownPerson]
        if let people {
            known = people
        } else {
            known = try await home.people().map { person in
                var person = person
                person.status = statuses[person.handle] ?? person.status
                return person
            }
        }
        if people != nil { await lookUp(known, olderThan: 60, atMost: Self.lookupsPerPage) }
        let entries = known.map { PersonEntry($0, seen[$0.handle], at: surroundings.now()) }
        needingCount = entries.count(where: \.needsDecision)
        return entries
    }

    /// One person, as this device remembers them.
    func person(_ handle: Handle) async throws(SignetError) -> PersonEntry {
        var person: KnownPerson
        if let found = try await home.people().first(where: { $0.handle == handle }) {
            person = found
        } else {
            person = try await home.person(handle)
        }
        person.status = statuses[handle] ?? nil
        return PersonEntry(person, seen[handle], at: surroundings.now())
    }

    /// The states of the people whom this device knows, without asking the directory.
    func states() async throws(SignetError) -> [Handle: TrustState] {
        let now = surroundings.now()
        let states = try await home.people().map { ($0.handle, TrustState($0, seen[$0.handle], at: now)) }
        return Dictionary(states) { first, _ in first }
    }

    /// Asks the directory about a person, and remembers what it showed.
    func look(at handle: Handle) async throws(SignetError) -> DirectoryAnswer {
        do throws(SignetError) {
            let answer = try await home.lookup(handle)
            await move(to: answer.home)
            reached()
            seen[handle] = SeenPerson(answer.result, at: surroundings.now())
            return answer
        } catch {
            missed(error)
            throw error
        }
    }

    /// Accepts a change, if it is still the one that was shown.
    func accept(_ change: KeyChange) async throws(SignetError) {
        let account = try await needed()
        _ = try await account.accept(change)
        seen[change.handle] = nil
        await reached(account)
    }

    /// The person's own account, as the log has it.
    func ownAccount() async throws(SignetError) -> OwnAccount {
        do throws(SignetError) {
            let (own, home) = try await home.ownAccount()
            recoverySeen = (own.isBeingRecovered, surroundings.now())
            await move(to: home)
            reached()
            return own
        } catch {
            missed(error)
            throw error
        }
    }

    /// Reads a new device's card from its text.
    ///
    /// - Parameter text: the card in base64 (RFC 4648, section 4, with padding). Spaces and ends of lines are left out.
    func card(text: String) throws(SignetError) -> CarriedCard {
        let digits = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard let bytes = try? Base64.decode(Array(digits)) else { throw .client(.linkCard(.unknownFormat)) }
        return try home.card(bytes)
    }

    /// Adds the device whose card and digits the user gave, and keeps the digits to type on it.
    func link(_ card: ComparedCard, with passphrase: SecretBytes) async throws(SignetError) {
        linked = try await approved(.linkDevice, with: passphrase) { account, approval throws(SignetError) in
            try await account.link(card, approval)
        }
    }

    /// Removes one of the user's other devices.
    func revoke(_ number: UInt16, with passphrase: SecretBytes) async throws(SignetError) -> RevokedNotes {
        if linked?.number == number { linked = nil }
        return try await approved(.revokeDevice(number), with: passphrase) { account, approval throws(SignetError) in
            try await account.revoke(number, approval)
        }.notes
    }

    /// The number and the code to compare with a person.
    func identities(with handle: Handle) async throws(SignetError) -> ComparedIdentities {
        let account = try await needed()
        do throws(SignetError) {
            let identities = try await account.identities(with: handle)
            await reached(account)
            return identities
        } catch {
            missed(error)
            throw error
        }
    }

    private func lookUp(_ people: [KnownPerson], olderThan age: UInt64, atMost count: Int) async {
        let now = surroundings.now()
        let due = people.filter { $0.pinned != nil && now >= (seen[$0.handle]?.time ?? 0) + age }
        for person in due.sorted(by: { seen[$0.handle]?.time ?? 0 < seen[$1.handle]?.time ?? 0 }).prefix(count) {
            do throws(SignetError) { _ = try await look(at: person.handle) } catch {
                if error.family == .environment { return }
            }
        }
    }

    // MARK: Notes

    /// Runs something of the notes'.
    func notes<Value: Sendable>(
        _ body: @Sendable (NoteBook<SQLiteStore>) async throws(NotesError) -> Value
    ) async throws(SignetError) -> Value {
        try await needed().notes(body)
    }

    /// Sends what is waiting, and fetches and verifies what is new.
    func sync() async throws(SignetError) -> SyncReport { try await sync(needed()) }

    private func sync(_ account: Account) async throws(SignetError) -> SyncReport {
        do throws(SignetError) {
            let report = try await account.notes { book throws(NotesError) in try await book.sync() }
            lastSync = (report, surroundings.now())
            await reached(account)
            return report
        } catch {
            missed(error)
            throw error
        }
    }

    // MARK: The directory

    func reached(_ account: Account) async {
        await move(to: account.home)
        reached()
    }

    private func reached() { (lastContact, trouble) = (surroundings.now(), nil) }

    func missed(_ error: SignetError) { if error.family == .environment { trouble = error } }

    /// Makes the home and the open account use the same directory file.
    private func move(to home: OpenHome) async {
        self.home = home
        await account?.move(to: home)
    }
}

/// A person and their state.
struct PersonEntry: Sendable {
    let person: KnownPerson
    let seen: SeenPerson?
    let state: TrustState

    init(_ person: KnownPerson, _ seen: SeenPerson?, at now: UInt64) {
        (self.person, self.seen) = (person, seen)
        state = TrustState(person, seen, at: now)
    }

    var handle: Handle { person.handle }
    /// Whether they ask to be a contact.
    var asks: Bool { person.status == .invited }
    /// Whether nothing is sent to them until the user has decided, or at all.
    var isStopped: Bool { state == .changed || state == .alarm }
    var needsDecision: Bool { asks || isStopped }
}
