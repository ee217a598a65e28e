import ArgumentParser
import Foundation
import KeyTransparency
import SignetClient

/// `signet monitor`
struct Monitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at everything that was logged under your name, and raise the alarm about what you did not do.",
        discussion: """
            Needs no passphrase. Every other command that asks the directory does it too when a day has passed. \
            Exit status 0 if all is well, 5 if there is an alarm.
            """)

    @Flag(help: "Go on looking, until Ctrl-C or a signal.") var follow = false
    @Option(help: ArgumentHelp("With --follow: how long to wait between two looks.", valueName: "seconds"))
    var interval: UInt64 = 3600
    @Option(
        help: ArgumentHelp(
            "Run this with the shell for each alarm that is new; SIGNET_ALARM and SIGNET_TEXT say what it is.",
            valueName: "command"))
    var notify: String?
    @Flag(help: "Everything that is found was you: raise no alarm about it again.") var accept = false
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...86_400).contains(interval) else { throw ValidationError("--interval goes from 1 to 86400.") }
        guard !(follow && accept) else { throw ValidationError("--accept is for one look that you read.") }
    }

    func run() async throws {
        let session = try Session(home)
        _ = try session.owner()
        var told: Set<MonitorAlarm> = []
        repeat {
            do { try await look(session, &told) } catch let failure as CommandFailure {
                guard follow, failure.status == .environment else { throw failure }
                failure.report(asJSON: false)
            }
            if follow { try await Task.sleep(for: .seconds(interval)) }
        } while follow && !Output.isUnread
    }

    private func look(_ session: Session, _ told: inout Set<MonitorAlarm>) async throws {
        let report = try await session.run(isWatching: false) { client throws(ClientError) in
            try await client.checkOwnAccount(isAccepting: accept)
        }
        let news = report.alarms.filter { told.insert($0).inserted }
        if !follow || !news.isEmpty || told.isEmpty { output.emit(report.json, report.text) }
        if !report.isAccepted { try news.forEach(tell) }
        guard !follow, !report.isAccepted, let alarm = report.alarms.first else { return }
        throw CommandFailure(.alarm, alarm.sentence)
    }

    private func tell(_ alarm: MonitorAlarm) throws {
        guard let notify else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", notify]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["SIGNET_ALARM": alarm.name, "SIGNET_TEXT": alarm.sentence.what]) { _, new in new }
        do { try process.run() } catch {
            throw CommandFailure(.badFile, "The command of --notify cannot be run.", "Check it by hand.")
        }
        process.waitUntilExit()
    }
}

extension MonitorReport {
    /// One object for each look.
    var json: JSONValue {
        [
            "accepted": .bool(isAccepted),
            "alarms": .array(
                alarms.map { alarm in
                    [
                        "alarm": .string(alarm.name), "remedy": .string(alarm.sentence.remedy),
                        "what": .string(alarm.sentence.what),
                    ]
                }),
            "entries": .number(UInt64(entryCount)), "epoch": .number(epoch), "first": .bool(isFirst),
            "handle": .string(handle.description), "milestones": .number(UInt64(milestoneCount)),
            "version": .number(version),
        ]
    }

    /// The same for people.
    var text: String {
        let paint = Paint.output
        var lines = [paint.strong(handle.description)]
        if alarms.isEmpty {
            let past = milestoneCount == 0 ? "" : ", and so did \(Moment.count(UInt64(milestoneCount), "past day"))"
            lines.append(
                "  \(paint.good("✓")) version \(version), as you left it: epoch \(epoch) shows nothing else\(past)")
        }
        if isFirst && alarms.isEmpty { lines.append("  This was the first look; from now on every entry is compared.") }
        for alarm in alarms {
            lines.append("  \(isAccepted ? paint.warning("–") : paint.bad("✗ alarm")) \(alarm.sentence.what)")
            if !isAccepted { lines.append("    \(alarm.sentence.remedy)") }
        }
        if isAccepted { lines.append("  \(paint.good("✓")) You say that this was you.") }
        return lines.joined(separator: "\n")
    }
}
