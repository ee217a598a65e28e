// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyTransparency
import Signet
import SignetAPI
import SocialRecovery

/// `signet recover`
struct Recover: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Get your identity back on a new device, with the help of your guardians.",
        discussion: "Example: signet recover start alice@example.org --directory directory.signet",
        subcommands: [Status.self, Start.self, Finish.self, Stop.self], defaultSubcommand: Status.self)
}

extension Recover {
    fileprivate static let guardianHelp = ArgumentHelp(
        "A guardian whom you remember: codes are shown only for guardians named here; may be repeated.",
        valueName: "handle")

    /// `signet recover start`
    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start", abstract: "Begin, on a device that is not yours yet.",
            discussion: """
                Call your guardians yourself: no one else tells them. Read the first of them the number that is shown; \
                when they have confirmed, the log shows everyone that a recovery began, and your other devices can \
                stop it. If it is interrupted, run the same command again.

                Examples:
                  signet recover start alice@example.org --directory directory.signet
                  signet recover start alice@example.org --directory directory.signet --paper paper.txt
                """)

        @Argument(help: "Your handle.") var handle: String
        @Option(help: ArgumentHelp("The directory file that its operator gave you.", valueName: "file"))
        var directory: String
        @Option(help: "The name of this device that guardians are shown.") var name = "new device"
        @Option(help: ArgumentHelp("Begin at once, with what 'signet guardians paper' wrote.", valueName: "file"))
        var paper: String?
        @Option(help: Recover.guardianHelp) var guardian: [String] = []
        @Flag(help: "Ask only if the guardians from before the last change may still help.") var before = false
        @OptionGroup var keys: KeystoreOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let askKey = try paper.map(Self.askKey)
            let guardians = try guardian.map(Handle.typed)
            guard name.utf8.count <= RecoveryRequest.maximumNameByteCount else {
                throw CommandFailure(
                    .usage, "That name is too long.", "At most \(RecoveryRequest.maximumNameByteCount) bytes.")
            }
            let beginning = try AccountCommand.begin(
                home, handle, directory: directory, withIdentity: true, keys)
            defer { withExtendedLifetime(beginning) {} }
            let session = Session(home, beginning.home)
            do throws(SignetError) {
                let progress = try await beginning.recover(
                    calling: name, with: askKey, naming: guardians, withFormer: before)
                OwnAccountWatch.arm(session)
                output.emit(progress.json, progress.beginning(handle))
            } catch { throw CommandFailure(error, session: session) }
        }

        private static func askKey(_ path: String) throws -> AskKey {
            let bytes: [UInt8]
            do { bytes = try DurableFile(path: path).read(maximumByteCount: 4096) } catch {
                throw CommandFailure(error, path: path)
            }
            guard let key = AskKey(paper: bytes) else {
                throw CommandFailure(
                    .badFile, "\(path) is not what 'signet guardians paper' wrote.",
                    "Without it, a guardian can let you begin: leave out --paper.")
            }
            return key
        }
    }

    /// `signet recover status`
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show what to read to each guardian, and who has helped.",
            discussion: "Example: signet recover status --guardian ana@example.org")

        @Option(help: Recover.guardianHelp) var guardian: [String] = []
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let guardians = try guardian.map(Handle.typed)
            let session = try Session(home)
            let progress = try await session.with(try session.secrets()) { account in
                try await account.recoveryProgress(naming: guardians)
            }
            output.emit(progress.json, progress.text)
        }
    }

    /// `signet recover finish`
    struct Finish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "finish",
            abstract: "Make the identity yours again, once enough guardians have helped and the wait is over.",
            discussion: """
                Every device from before is removed from the account.

                Example: signet recover finish
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let handle = try session.owner().handle
            let recovered = try await session.approved(.recoverIdentity) { account, approval in
                try await account.finishRecovery(approval)
            }
            let (things, notes) = (recovered.things, recovered.noteCount)
            output.emit(Self.json(things, handle, notes), Self.text(things, handle, notes))
        }

        private static func json(_ things: RecoveredThings, _ handle: Handle, _ notes: Int) -> PrintedValue {
            [
                "changed": .array(things.changed.map { .string($0.description) }),
                "handle": .string(handle.description), "notes": .number(UInt64(notes)),
                "people": .array(things.people.map { .string($0.description) }),
                "sites": .array(things.sites.map { .string($0.words) }),
                "unreadable": .number(UInt64(things.unreadable)),
            ]
        }

        private static func text(_ things: RecoveredThings, _ handle: Handle, _ notes: Int) -> String {
            let paint = Paint.output
            var lines = [
                "\(paint.good("✓")) \(paint.strong(handle.description)) is yours again, on this device alone.",
                "  People:  \(list(things.people.map(\.description)))",
                "  Notes:   \(words(ofNotes: notes))",
                "  Sites:   \(list(things.sites.map(\.words)))",
            ]
            if !things.sites.isEmpty {
                lines.append("           Give each your new keys, at different times: signet sites re-register HOST")
            }
            lines += things.shortfall.map { "  \(paint.warning("!")) \($0)" }
            return
                (lines + [
                    "  Your friends are told that you recovered your identity; compare again when you meet.",
                    "  \(paint.warning("You have no guardians now.")) Choose them: signet guardians add …",
                ]).joined(separator: "\n")
        }

        private static func words(ofNotes count: Int) -> String {
            guard count > 0 else {
                return "you had none of your own; for those of others, ask their owners to share them again"
            }
            return "\(count), under new keys; a notes password has to be set again"
        }

        private static func list(_ names: [String]) -> String {
            names.isEmpty ? "none" : names.joined(separator: ", ")
        }
    }
}

extension RecoveredThings {
    /// What did not come back.
    var shortfall: [String] {
        let unreadable =
            unreadable > 0
            ? [
                "\(unreadable) of the items that your devices added cannot be read: one of the devices may have been in a thief's hands."
            ] : []
        return unreadable + changed.map { "\($0) is not who you knew: add them again, and compare keys." }
    }
}
