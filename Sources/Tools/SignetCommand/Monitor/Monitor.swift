// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyTransparency
import Signet

/// `signet monitor`
struct Monitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Look at everything that was logged under your name, and raise an alarm about what you did not do.",
        discussion: """
            Needs no passphrase. Every other command that asks the directory also does this once a day has passed. \
            If the directory has lost what this device brought of your account, it is brought again, byte for byte. \
            Exit status 0 if all is well, 5 if there is an alarm.

            Examples:
              signet monitor
              signet monitor --follow --interval 600
            """)

    @Flag(help: "Keep looking, until Ctrl-C or a signal.") var follow = false
    @Option(help: ArgumentHelp("With --follow: how long to wait between two looks.", valueName: "seconds"))
    var interval: UInt64 = 3600
    @Option(
        help: ArgumentHelp(
            "Run this command with the shell for each new alarm; SIGNET_ALARM and SIGNET_TEXT say what it is.",
            valueName: "command"))
    var notify: String?
    @Flag(help: "Confirm that everything found was you, and raise no alarm about it again.") var accept = false
    @OptionGroup var home: ClosedHomeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...86_400).contains(interval) else { throw ValidationError("--interval must be from 1 to 86400.") }
        guard !(follow && accept) else {
            throw ValidationError(
                "--accept cannot be used with --follow: it is for a single check whose output you read.")
        }
    }

    func run() async throws {
        let session = try Session(home)
        _ = try session.owner()
        var told: Set<ToldAlarm> = []
        repeat {
            do { try await look(session, &told) } catch let failure as CommandFailure {
                guard follow, failure.status == .environment else { throw failure }
                failure.report(asJSON: false)
            }
            if follow { try await Task.sleep(for: .seconds(interval)) }
        } while follow && !Output.isUnread
    }

    private func look(_ session: Session, _ told: inout Set<ToldAlarm>) async throws {
        let check = try await session.read { home throws(SignetError) in try await home.checkNow(isAccepting: accept) }
        _ = session.moved(to: check.home)
        let report = check.report
        let found = FoundAlarms(report, check.shownKeys, isAccepting: accept)
        let (alarms, news) = (found.open, found.open.filter { told.insert($0).inserted })
        if !follow || !news.isEmpty || told.isEmpty || !report.broughtAgain.isEmpty {
            output.emit(report.json(found), report.text(found))
        }
        try news.forEach(tell)
        guard !follow, let alarm = alarms.first else { return }
        throw CommandFailure(.alarm, alarm.sentence)
    }

    private func tell(_ alarm: ToldAlarm) throws {
        guard let notify else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", notify]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["SIGNET_ALARM": alarm.name, "SIGNET_TEXT": alarm.sentence.what]) { _, new in new }
        do { try process.run() } catch {
            throw CommandFailure(.badFile, "The --notify command cannot be run.", "Try it by hand.")
        }
        process.waitUntilExit()
    }
}

/// An alarm as it is told: about the own account, or about keys of others.
struct ToldAlarm: Hashable {
    let name: String
    let sentence: Sentence

    init(_ alarm: MonitorAlarm) { (name, sentence) = (alarm.name, alarm.sentence) }

    init(_ alarm: ShownKeysAlarm) { (name, sentence) = (alarm.name, alarm.sentence) }

    func json(isAccepted: Bool) -> PrintedValue {
        [
            "accepted": .bool(isAccepted), "alarm": .string(name), "remedy": .string(sentence.remedy),
            "what": .string(sentence.what),
        ]
    }
}

/// What one look found, by what the user says of it.
private struct FoundAlarms {
    /// What the user now says was them.
    let accepted: [ToldAlarm]
    /// What still asks.
    let open: [ToldAlarm]

    init(_ report: MonitorReport, _ shown: [ShownKeysAlarm], isAccepting: Bool) {
        let shown = shown.map(ToldAlarm.init)
        accepted = report.acceptedAlarms.map(ToldAlarm.init) + (isAccepting ? shown : [])
        open = report.openAlarms.map(ToldAlarm.init) + (isAccepting ? [] : shown)
    }
}

extension MonitorReport {
    /// One object for each look.
    fileprivate func json(_ found: FoundAlarms) -> PrintedValue {
        [
            "accepted": .bool(found.open.isEmpty && !found.accepted.isEmpty),
            "alarms": .array(
                found.accepted.map { $0.json(isAccepted: true) } + found.open.map { $0.json(isAccepted: false) }),
            "entries": .number(UInt64(entryCount)), "epoch": .number(epoch), "first": .bool(isFirst),
            "handle": .string(handle.description), "milestones": .number(UInt64(milestoneCount)),
            "resubmitted": .array(broughtAgain.map { .number($0) }), "version": .number(version),
        ]
    }

    /// The same for people.
    fileprivate func text(_ found: FoundAlarms) -> String {
        let paint = Paint.output
        var lines = [paint.strong(handle.description)]
        if alarms.isEmpty {
            let past = milestoneCount == 0 ? "" : ", and so did \(Moment.count(UInt64(milestoneCount), "past day"))"
            lines.append(
                "  \(paint.good("✓")) version \(version), as you left it: epoch \(epoch) shows nothing else\(past)")
        }
        if !broughtAgain.isEmpty { lines.append("  \(paint.good("✓")) \(Self.sentence(broughtAgain: broughtAgain))") }
        if isFirst && alarms.isEmpty { lines.append("  This was the first look; from now on every entry is compared.") }
        for alarm in found.accepted { lines.append("  \(paint.warning("–")) \(alarm.sentence.what)") }
        if !found.accepted.isEmpty { lines.append("  \(paint.good("✓")) You confirmed that this was you.") }
        for alarm in found.open {
            lines.append("  \(paint.bad("✗ alarm")) \(alarm.sentence.what)")
            lines.append("    \(alarm.sentence.remedy)")
        }
        if !acceptedFormer.isEmpty && !found.open.isEmpty {
            lines.append(
                "  You had not seen the alarms above: only the alarms about the log that has ended were accepted.")
        }
        return lines.joined(separator: "\n")
    }
}
