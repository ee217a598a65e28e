// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyTransparency
import Signet
import SignetAPI

/// `signet identity`
struct Identity: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Your digital identity: where it is kept, and the devices that speak for it.",
        discussion: "Example: signet identity status",
        subcommands: [Status.self, Join.self, LinkDevice.self, RevokeDevice.self])
}

extension Custody {
    /// A word, for scripts.
    var name: String {
        switch self {
        case .bound: "bound"
        case .portable: "portable"
        }
    }
}

extension Keystore {
    /// What losing or copying the device means, in words.
    fileprivate func words(_ custody: Custody) -> [String] {
        switch (custody, place) {
        case (.bound, _):
            [
                "bound to this device: it can never leave it.",
                "If you lose the device, a recovery makes a new identity in its place.",
            ]
        case (.portable, .keyring):
            [
                "portable: it is in the home folder.",
                "Anyone who copies the folder and the keyring and guesses the passphrase has it too. Back up both.",
            ]
        case (.portable, _):
            [
                "portable: it is in the home folder.",
                "Anyone who copies the folder and guesses the passphrase has it too. Keep a backup of the folder.",
            ]
        }
    }
}

extension Identity {
    /// `signet identity status`
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show your identity, and check it in the log.",
            discussion: "Example: signet identity status")

        @Flag(help: "Do not ask the directory.") var offline = false
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let keystore = try session.owner()
            let custody: Custody? = keystore.identityKey.map { _ in keystore.isIdentityInPlace ? .bound : .portable }
            let account = offline ? nil : try await session.ownAccount()
            output.emit(json(keystore, custody, account), text(keystore, custody, account))
            try account?.check(session)
        }

        private func json(
            _ keystore: Keystore, _ custody: Custody?, _ account: OwnAccount?
        ) -> PrintedValue {
            [
                "custody": custody.map { .string($0.name) } ?? .null,
                "devices": account.map { .number(UInt64($0.devices.count)) } ?? .null,
                "handle": .string(keystore.handle.description),
                "outcome": account.map { .string($0.outcome.name) } ?? .null,
            ]
        }

        private func text(
            _ keystore: Keystore, _ custody: Custody?, _ account: OwnAccount?
        ) -> String {
            var lines = [Paint.output.strong(keystore.handle.description)]
            if let custody {
                lines += [
                    "  Your digital identity is on this device, and \(keystore.words(custody)[0])",
                    "  \(keystore.words(custody)[1])", "  The keys are \(keystore.words).",
                ]
            } else {
                lines.append("  Your digital identity is on another device. This one speaks for it.")
            }
            if let account {
                lines.append("  The log shows it \(account.words).")
                lines += account.devices.map { device in
                    "  device \(device.number), added \(Moment.date(device.time))"
                        + (device.isThisDevice ? "  this device" : "")
                }
            }
            return lines.joined(separator: "\n")
        }
    }

    /// `signet identity join`
    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "join",
            abstract: "The same as 'signet account join'.",
            discussion: """
                Shows twelve digits. Type them on the other device: it continues only if it received this exact card. \
                Then it shows twelve digits of its own, for 'signet devices confirm' here. The card is valid for an \
                hour.

                Example: signet identity join alice@example.org --directory directory.signet
                """, shouldDisplay: false)

        @Argument(help: "Your handle.") var handle: String
        @Option(help: ArgumentHelp("The directory file that its operator gave you.", valueName: "file"))
        var directory: String
        @Option(help: ArgumentHelp("Where to put the card.", valueName: "file")) var card: String = "device.card"
        @OptionGroup var code: CardCodeOptions
        @OptionGroup var keys: KeystoreOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let (made, session) = try await AccountCommand.makeCard(
                home, try Handle.typed(handle), directory: directory, at: card, keys)
            try code.write(made, outside: session.home)
            output.emit(
                [
                    "card": .string(card), "code": .string(made.code),
                    "handle": .string(try session.owner().handle.description),
                ],
                """
                \(Paint.output.good("✓")) This device has keys of its own. Its card is in \(Paint.output.strong(card)).
                  On your other device:  signet devices add \(card)
                  Type there:            \(Paint.output.strong(made.code))
                  Then here:             signet devices confirm
                """ + code.drawn(made))
        }
    }

    /// `signet identity link-device`, which became `signet devices add`
    struct LinkDevice: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "link-device", abstract: "Replaced by 'signet devices add'.", shouldDisplay: false)

        @Argument(parsing: .allUnrecognized) var rest: [String] = []

        func run() throws {
            throw CommandFailure(
                .usage, "'signet identity link-device' is now 'signet devices add'.",
                "It takes the same card, and then shows digits for the new device.")
        }
    }

    /// `signet identity revoke-device`
    struct RevokeDevice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke-device", abstract: "The same as 'signet devices revoke'.",
            discussion: """
                It keeps what it could read before.

                Example: signet identity revoke-device 2
                """, shouldDisplay: false)

        @Argument(help: "Its number in 'signet identity status'.") var number: UInt16
        @OptionGroup var keys: RevocationOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let rekeyedCount = try await Session(home).revokeDevice(number, isKeepingKeys: keys.keepKeys).rekeyedCount
            output.emit(
                [
                    "number": .number(UInt64(number)), "outcome": "revoked",
                    "rekeyed": rekeyedCount.map { .number(UInt64($0)) } ?? .null,
                ],
                "\(Paint.output.good("✓")) Device \(number) no longer speaks for you, and the log proves it."
                    + RevocationOptions.words(rekeyedCount))
        }
    }
}
