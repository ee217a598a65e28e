// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import Signet
import SignetAPI
import TransparencyLog

/// `signet status`
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show on one page who you are here, whom you know, and what this device saw last.",
        discussion: """
            Asks no one, and needs no passphrase. With --requests it also asks the directory who wants to be your friend, for \
            which it needs the passphrase; if the directory refuses that, such as because its operator has suspended the account, \
            the page says so, and the exit status is that of the refusal. 'signet doctor' looks whether all is well.

            Example: signet status
            """)

    @Flag(help: "Also ask the directory for requests that wait for you.") var requests = false
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let session = try Session(home)
        let keystore = try session.owner()
        let summary = try await session.read { home throws(SignetError) in try await home.summary() }
        var waiting: [Handle]?
        var refusal: CommandFailure?
        if requests {
            let secrets = try session.secrets()
            do { waiting = try await session.with(secrets) { try await $0.requests() } } catch let failure
                as CommandFailure
            {
                refusal = failure
            }
        }
        let page = StatusPage(
            session: session, keystore: keystore, summary: summary, waiting: waiting, refusal: refusal)
        output.emit(page.json, page.text)
        // What the device knows is shown all the same.
        if let refusal { throw refusal }
    }
}

/// What a device knows, on one page.
private struct StatusPage {
    let session: Session
    let keystore: Keystore
    let summary: HomeSummary
    /// The people who wait for an answer; nil if the directory was not asked.
    let waiting: [Handle]?
    /// Why the directory, which was asked, does not say so: such as that its operator has suspended the account.
    let refusal: CommandFailure?

    /// How many handles a line names.
    private static let named = 5

    private var pinned: [KnownPerson] { summary.people.filter { $0.pinned != nil } }
    private var uncompared: [KnownPerson] { pinned.filter { !$0.isCompared } }

    var json: PrintedValue {
        [
            "compared": .number(UInt64(pinned.count - uncompared.count)), "directory": .string(session.profile.url),
            "handle": .string(keystore.handle.description), "home": .string(session.home.path),
            "identityHere": .bool(keystore.identityKey != nil),
            "lastCheck": summary.lastCheck.map { .number($0) } ?? .null,
            "log": summary.log.map(Self.json) ?? .null,
            "notCompared": .array(uncompared.map { .string($0.handle.description) }),
            "pinnedKeys": .number(UInt64(session.profile.pins.count)),
            "pinsVersion": session.profile.mark.map { .number($0.version) } ?? .null,
            "requests": waiting.map { .array($0.map { .string($0.description) }) } ?? .null,
        ]
    }

    private static func json(_ view: LogView) -> PrintedValue {
        [
            "epoch": view.epoch.map { .number($0.number) } ?? .null,
            "epochEnded": view.epoch.map { .number($0.time / 1000) } ?? .null, "origin": .text(view.origin.bytes),
            "root": .base64(view.head.root.bytes), "size": .number(view.head.size),
        ]
    }

    var text: String {
        let identity = keystore.identityKey == nil ? "the identity is on another device" : "the identity is here"
        let rows: [(String, String)] = [
            ("directory", session.profile.url), ("device", "\(identity); its keys are \(keystore.words)"),
            ("home", session.home.path), ("people", people), ("pins", pins), ("log", log), ("own account", check),
            ("requests", requests),
        ]
        return
            ([Paint.output.strong(keystore.handle.description)]
            + rows.map { name, words in "  \(name)\(String(repeating: " ", count: 13 - name.count))\(words)" })
            .joined(separator: "\n")
    }

    private var people: String {
        guard !pinned.isEmpty else { return "no one yet: signet people add HANDLE" }
        guard !uncompared.isEmpty else { return "\(pinned.count), all compared" }
        return "\(pinned.count), not compared: \(Self.list(uncompared.map(\.handle)))"
    }

    private var pins: String {
        let keys = Moment.count(UInt64(session.profile.pins.count), "key") + " of the directory's server"
        return keys + (session.profile.mark.map { ", version \($0.version) in its log" } ?? ", of the directory file")
    }

    private var log: String {
        guard let view = summary.log else { return "not looked at yet" }
        let epoch = view.epoch.map { ", epoch \($0.number) of \(Moment.date($0.time / 1000))" } ?? ""
        return "\(PrintedValue.printable(view.origin.bytes)), \(Moment.entries(view.head.size))\(epoch)"
    }

    private var check: String {
        summary.lastCheck.map { "checked \(Moment.date($0)), nothing that you did not do" }
            ?? "not checked yet: signet monitor"
    }

    private var requests: String {
        if let refusal { return refusal.sentence.what }
        guard let waiting else { return "not asked: signet status --requests" }
        return waiting.isEmpty ? "none" : "\(Self.list(waiting)): signet people accept HANDLE"
    }

    /// The first handles, and how many more.
    private static func list(_ handles: [Handle]) -> String {
        let more = handles.count - named
        return handles.prefix(named).map(\.description).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}

extension KnownPerson {
    /// Whether the user compared the identity key that is pinned.
    fileprivate var isCompared: Bool {
        if case .compared = comparison { true } else { false }
    }
}
