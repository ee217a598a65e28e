// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyTransparency
import Signet

/// `signet devices`
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "The devices of your account.",
        discussion: "Example: signet devices list",
        subcommands: [List.self, Add.self, Confirm.self, Revoke.self])
}

extension Devices {
    fileprivate static func json(_ devices: [OwnDevice]) -> PrintedValue {
        .array(
            devices.map { device in
                [
                    "addedAt": .number(device.time), "key": .base64(device.signingKey),
                    "number": .number(UInt64(device.number)), "thisDevice": .bool(device.isThisDevice),
                ]
            })
    }

    fileprivate static func text(_ devices: [OwnDevice]) -> String {
        devices.map { device in
            "  \(device.number)  added \(Moment.date(device.time))"
                + (device.isThisDevice ? Paint.output.strong("  this device") : "")
        }.joined(separator: "\n")
    }

    /// `signet devices list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the devices that the log holds for you, and raise an alarm about unknown ones.",
            discussion: "Example: signet devices list")

        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            _ = try session.owner()
            let account = try await session.ownAccount()
            output.emit(
                [
                    "devices": json(account.devices), "outcome": .string(account.outcome.name),
                    "version": .number(account.version),
                ],
                text(account.devices))
            try account.check(session)
        }
    }

    /// `signet devices add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a device that made a card with 'signet account join', after comparing twelve digits.",
            discussion: """
                Then shows twelve digits in turn: 'signet devices confirm' on the new device asks for them, and it accepts nothing \
                before that. Give the same card again to see them again.

                From a picture of its code:  zbarimg --raw -Sbinary PICTURE | signet devices add /dev/stdin --code DIGITS

                Example: signet devices add device.card
                """)

        @Argument(help: ArgumentHelp("The card of the new device.", valueName: "file")) var card: String
        @Option(help: ArgumentHelp("The digits that the new device shows.", valueName: "digits")) var code: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let carried = try session.card(in: card)
            let card: ComparedCard
            do {
                card = try carried.compared(
                    typed: TypedDigits.given(code, "Type the twelve digits that the new device shows:"))
            } catch let error as SignetError { throw CommandFailure(error, session: session) }
            let linked = try await session.approved(.linkDevice) { account, approval in
                try await account.link(card, approval)
            }
            let (number, confirmation) = (linked.number, linked.confirmation)
            output.emit(
                [
                    "confirmation": .string(confirmation), "devices": json(linked.account.devices),
                    "number": .number(UInt64(number)), "version": .number(linked.account.version),
                ],
                """
                \(Paint.output.good("✓")) Device \(number) is in your account, and the log proves it.
                  On the new device:  signet devices confirm
                  Type there:         \(Paint.output.strong(confirmation))
                  Your friends are asked to accept it the next time they look you up.
                """)
        }
    }

    /// `signet devices confirm`
    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "confirm",
            abstract: "On a new device: accept the account, after comparing the digits that your other device shows.",
            discussion: """
                Before that, a new device accepts nothing that the directory says about your account.

                Example: signet devices confirm
                """)

        @Option(help: ArgumentHelp("The digits that the other device shows.", valueName: "digits")) var code: String?
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let keystore = try session.owner()
            do {
                let account = try await session.open.accountToConfirm()
                let home = try await account.accept(
                    typed: TypedDigits.given(
                        code, "Type the twelve digits that 'signet devices add' showed on your other device:"))
                OwnAccountWatch.arm(session.moved(to: home))
            } catch let error as SignetError { throw CommandFailure(error, session: session) }
            output.emit(
                ["handle": .string(keystore.handle.description), "outcome": "confirmed"],
                "\(Paint.output.good("✓")) \(keystore.handle) is now your account on this device too: both "
                    + "devices have the same account."
            )
        }
    }

    /// `signet devices revoke`
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Remove a device from your account.",
            discussion: """
                Your notes get new keys, which it does not know; a notes password and a recovery key on paper end with the old ones. \
                It keeps what it could read before. Ask the owners of notes that are shared with you to rekey them.

                Example: signet devices revoke 2
                """)

        @Argument(help: "Its number in 'signet devices list'.") var number: UInt16
        @OptionGroup var keys: RevocationOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let (account, rekeyedCount) = try await session.revokeDevice(number, isKeepingKeys: keys.keepKeys)
            output.emit(
                [
                    "devices": json(account.devices),
                    "rekeyed": rekeyedCount.map { .number(UInt64($0)) } ?? .null, "version": .number(account.version),
                ],
                "\(Paint.output.good("✓")) Device \(number) is no longer yours, and the log proves it."
                    + RevocationOptions.words(rekeyedCount))
        }
    }
}
