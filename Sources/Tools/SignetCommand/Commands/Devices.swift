import ArgumentParser
import CanonicalCoding
import DeviceIdentity
import DeviceKeystores
import KeyTransparency
import SignetAPI
import SignetClient

/// `signet devices`
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The devices of your account.", subcommands: [List.self, Add.self, Confirm.self, Revoke.self])
}

extension Devices {
    fileprivate static func json(_ devices: [DeviceRecord], own: [UInt8]) -> JSONValue {
        .array(
            devices.map { device in
                [
                    "addedAt": .number(device.addedAt), "key": .base64(device.keys.signing),
                    "number": .number(UInt64(device.number)), "thisDevice": .bool(device.keys.signing == own),
                ]
            })
    }

    fileprivate static func text(_ devices: [DeviceRecord], own: [UInt8]) -> String {
        devices.map { device in
            "  \(device.number)  added \(Moment.date(device.addedAt))"
                + (device.keys.signing == own ? Paint.output.strong("  this device") : "")
        }.joined(separator: "\n")
    }

    /// `signet devices list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the devices that the log holds for you, and raise the alarm about unknown ones.")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let keystore = try session.owner()
            let verdict = try await session.run { client throws(ClientError) in
                try await client.lookup(keystore.handle).verdict
            }
            let devices = verdict.lookup.state.devices
            output.emit(
                [
                    "devices": json(devices, own: keystore.keys.signing),
                    "outcome": .string(verdict.outcome.name),
                    "version": .number(verdict.version),
                ],
                text(devices, own: keystore.keys.signing))
            try OwnAccount.check(verdict, try session.owner())
        }
    }

    /// `signet devices add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a device that made a card with 'signet account join', after comparing twelve digits.",
            discussion: """
                Then shows twelve digits in turn: 'signet devices confirm' on the new device asks for them, and it accepts nothing \
                before. The same card again shows them again.

                From a picture of its code:  zbarimg --raw -Sbinary PICTURE | signet devices add /dev/stdin --code DIGITS
                """)

        @Argument(help: ArgumentHelp("The card of the new device.", valueName: "file")) var card: String
        @Option(help: ArgumentHelp("The digits that the new device shows.", valueName: "digits")) var code: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let card = try LinkCard.read(card, session)
            try LinkCode.of(card).compare(
                typed: code, "Type the twelve digits that the new device shows:", orElse: LinkCode.otherDevice)
            let verdict = try await session.addDevice(card)
            let own = verdict.lookup.state.devices.first { $0.keys.signing == card.device.request.keys.signing }
            let (number, confirmation) = (own?.number ?? 0, try LinkCode.of(card, in: verdict).text)
            output.emit(
                [
                    "confirmation": .string(confirmation),
                    "devices": json(verdict.lookup.state.devices, own: try session.owner().keys.signing),
                    "number": .number(UInt64(number)),
                    "version": .number(verdict.version),
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
            abstract: "On a new device: accept the account, after comparing the digits that your other device shows.",
            discussion: "Before that, a new device accepts nothing that the directory says of your account.")

        @Option(help: ArgumentHelp("The digits that the other device shows.", valueName: "digits")) var code: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let keystore = try session.owner()
            let account = try await session.run(isWatching: false) { client throws(ClientError) in
                try await client.accountToConfirm()
            }
            try LinkCode.of(account).compare(
                typed: code, "Type the twelve digits that 'signet devices add' showed on your other device:",
                orElse: LinkCode.otherAccount)
            try await session.run { client throws(ClientError) in try await client.acceptCompared(account) }
            output.emit(
                ["handle": .string(keystore.handle.description), "outcome": "confirmed"],
                "\(Paint.output.good("✓")) \(keystore.handle) is your account on this device too: both devices have the same."
            )
        }
    }

    /// `signet devices revoke`
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a device from your account.",
            discussion: """
                Your notes get new keys, which it does not know; a notes password and a recovery key on paper end with the old ones. \
                What it could read before, it keeps. Whose notes are shared with you, ask to rekey them.
                """)

        @Argument(help: "Its number in 'signet devices list'.") var number: UInt16
        @OptionGroup var keys: RevocationOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let (verdict, rekeyedCount) = try await session.revokeDevice(number, isKeepingKeys: keys.keepKeys)
            output.emit(
                [
                    "devices": json(verdict.lookup.state.devices, own: try session.owner().keys.signing),
                    "rekeyed": rekeyedCount.map { .number(UInt64($0)) } ?? .null, "version": .number(verdict.version),
                ],
                "\(Paint.output.good("✓")) Device \(number) is no longer yours, and the log proves it."
                    + RevocationOptions.words(rekeyedCount))
        }
    }
}
