// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import Platform
import Signet

/// `signet doctor`
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look whether everything is well: this device, your account, and the directory.",
        discussion: """
            Needs no passphrase and changes nothing. Only with a passphrase that was given, or with the agent, can it ask whether the \
            directory serves the account, which its operator can suspend: that request is signed. A line with ✓ is well; one with ! could be better; one with ✗ is wrong, and \
            the line below it says what to do. Exit status 0 if nothing is wrong.

            Example: signet doctor
            """)

    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var findings = passphrase
        do {
            let session = try Session(home)
            findings += Self.keys(try session.owner(), session)
            // What was logged under the user's name is shown even if the answer about the account is not what it has to be.
            let check = try await session.read { home throws(SignetError) in try await home.checkNow() }
            findings += Self.findings(check)
            let moved = session.moved(to: check.home)
            let examination = try await moved.read { home throws(SignetError) in try await home.examine() }
            let examined = moved.moved(to: examination.home)
            findings += Self.findings(examination, examined)
            findings += try await Self.service(examined)
        } catch let failure as CommandFailure { findings.append(.wrong(failure)) }
        output.emit(json(findings), findings.map(\.text).joined(separator: "\n"))
        if let status = findings.compactMap(\.status).first { Signet.exit(withError: ExitCode(status.rawValue)) }
    }

    private func json(_ findings: [DoctorFinding]) -> PrintedValue {
        ["findings": .array(findings.map(\.json)), "well": .bool(findings.allSatisfy { $0.status == nil })]
    }

    /// How the passphrase is kept from others.
    private var passphrase: [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if let file = home.passphraseFile, FileStatus(of: file)?.isOpenToOthers == true {
            findings.append(
                .doubtful("Others of this machine can read the passphrase file \(file).", "chmod 600 it."))
        }
        if Passphrase.isInEnvironment {
            findings.append(
                .doubtful(
                    "The passphrase is in the environment, where other programs of yours can read it.",
                    "Unset SIGNET_PASSPHRASE; signet asks for the passphrase when it needs it."))
        }
        return findings
    }

    private static func keys(_ keystore: Keystore, _ session: Session) -> [DoctorFinding] {
        let place = keystore.identityKey == nil ? "device keys" : "identity and device keys"
        return [.well("The \(place) of \(keystore.handle) are in \(session.home.path), \(keystore.words).")]
    }

    private static func findings(_ check: AccountCheck) -> [DoctorFinding] {
        let alarms = check.report.openAlarms.map(ToldAlarm.init) + check.shownKeys.map(ToldAlarm.init)
        guard alarms.isEmpty else { return alarms.map { .wrong(CommandFailure(.alarm, $0.sentence)) } }
        return [.well("Nothing was logged under your name that you did not do.")]
    }

    private static func findings(_ found: HomeExamination, _ session: Session) -> [DoctorFinding] {
        let account = found.account
        var findings: [DoctorFinding] = [
            .well("The directory answers, and every check of its answer held."),
            .well("This device's clock fits: the witnesses saw the log \(Moment.span(found.age)) ago."),
        ]
        if let alarm = account.alarm {
            findings.append(.wrong(CommandFailure(alarm, session: session)))
        } else {
            findings.append(
                .well("Your account is as this device left it: version \(account.version), \(devices(account))."))
        }
        findings.append(
            found.hasGuardians
                ? .well("Guardians can give you your identity back.")
                : .doubtful(
                    "No guardians: if you lose every device, your identity is lost.",
                    "Choose people you trust: 'signet guardians add'."))
        findings.append(
            found.outsideWitnessCount > 0
                ? .well("\(found.outsideWitnessCount) of the witnesses are not the directory's own.")
                : .doubtful(
                    "No one outside the directory vouches for its log: every witness is its own.",
                    "Compare keys with the people you write to: 'signet people verify'."))
        return findings
    }

    /// Whether the directory answers requests that the device signs: of a suspended account it refuses them.
    private static func service(_ session: Session) async throws -> [DoctorFinding] {
        let unasked = "The directory was not asked whether its operator has suspended your account"
        let secrets: DeviceSecrets?
        do { secrets = try session.unaskedSecrets() } catch let failure as CommandFailure {
            return [.doubtful("\(unasked): \(failure.sentence.what)", failure.sentence.remedy)]
        }
        guard let secrets else {
            return [
                .doubtful(
                    "\(unasked): that needs the passphrase.",
                    "Give it with --passphrase-file or SIGNET_PASSPHRASE, or see 'signet status --requests'.")
            ]
        }
        do { _ = try await session.with(secrets) { try await $0.requests() } } catch let failure as CommandFailure {
            return [.wrong(failure)]
        }
        return [.well("The directory serves your account: it answered a request that this device signed.")]
    }

    private static func devices(_ account: OwnAccount) -> String {
        account.devices.count == 1 ? "1 device" : "\(account.devices.count) devices"
    }
}

/// A line of the doctor's.
struct DoctorFinding {
    /// How it is.
    private enum State: String { case well, doubtful, wrong }

    private let state: State
    private let sentence: Sentence
    /// The exit status of something wrong; nil for anything else.
    let status: ExitStatus?

    static func well(_ what: String) -> DoctorFinding {
        DoctorFinding(state: .well, sentence: Sentence(what, ""), status: nil)
    }

    static func doubtful(_ what: String, _ remedy: String) -> DoctorFinding {
        DoctorFinding(state: .doubtful, sentence: Sentence(what, remedy), status: nil)
    }

    static func wrong(_ failure: CommandFailure) -> DoctorFinding {
        DoctorFinding(state: .wrong, sentence: failure.sentence, status: failure.status)
    }

    var text: String {
        let mark =
            switch state {
            case .well: Paint.output.good("✓")
            case .doubtful: Paint.output.warning("!")
            case .wrong: Paint.output.bad("✗")
            }
        return "\(mark) \(sentence.what)" + (sentence.remedy.isEmpty ? "" : "\n  \(sentence.remedy)")
    }

    var json: PrintedValue {
        [
            "remedy": sentence.remedy.isEmpty ? .null : .string(sentence.remedy), "state": .string(state.rawValue),
            "what": .string(sentence.what),
        ]
    }
}
