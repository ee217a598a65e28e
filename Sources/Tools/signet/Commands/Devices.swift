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
        abstract: "The devices of your account.", subcommands: [List.self, Add.self, Revoke.self])
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
            abstract: "Add a device that made a card with 'signet account join', after comparing twelve digits.")

        @Argument(help: "The device card.") var card: String
        @Option(help: ArgumentHelp("The digits that the new device shows.", valueName: "digits")) var code: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let card = try DeviceCard.read(card)
            let session = try Session(home)
            try LinkCode.of(card).compare(typed: code)
            let verdict = try await session.addDevice(card)
            let number = verdict.lookup.state.devices.last?.number ?? 0
            output.emit(
                [
                    "devices": json(verdict.lookup.state.devices, own: try session.owner().keys.signing),
                    "number": .number(UInt64(number)),
                    "version": .number(verdict.version),
                ],
                "\(Paint.output.good("✓")) Device \(number) is in your account, and the log proves it.\n  Your friends are asked to accept it the next time they look you up."
            )
        }
    }

    /// `signet devices revoke`
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a device from your account.")

        @Argument(help: "Its number in 'signet devices list'.") var number: UInt16
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let verdict = try await session.revokeDevice(number)
            output.emit(
                [
                    "devices": json(verdict.lookup.state.devices, own: try session.owner().keys.signing),
                    "version": .number(verdict.version),
                ],
                "\(Paint.output.good("✓")) Device \(number) is no longer yours, and the log proves it.")
        }
    }
}
