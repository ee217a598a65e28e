import ArgumentParser
import DeviceIdentity
import DeviceKeystores
import KeyTransparency
import QRCode
import SignetAPI
import SignetClient

/// `signet identity`
struct Identity: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Your digital identity: what it is kept in, and the devices that speak for it.",
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

    /// What losing or copying the device means, in words.
    fileprivate var words: [String] {
        switch self {
        case .bound:
            [
                "bound to this device: it can never leave it.",
                "Lose the device, and a recovery makes a new one that takes its place.",
            ]
        case .portable:
            [
                "portable: it is in the home folder, sealed under your passphrase.",
                "Whoever copies the folder and guesses the passphrase has it too. Keep a backup of the folder.",
            ]
        }
    }
}

extension Identity {
    /// `signet identity status`
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show your identity, and check it in the log.")

        @Flag(help: "Do not ask the directory.") var offline = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let keystore = try session.owner()
            let custody: Custody? = keystore.identityKey == nil ? nil : .portable
            let verdict =
                offline
                ? nil
                : try await session.run { client throws(ClientError) in try await client.lookup(keystore.handle).verdict
                }
            output.emit(json(keystore, custody, verdict), text(keystore, custody, verdict))
            if let verdict { try OwnAccount.check(verdict, keystore) }
        }

        private func json(
            _ keystore: SignetClient.Keystore, _ custody: Custody?, _ verdict: LookupVerdict?
        ) -> JSONValue {
            [
                "custody": custody.map { .string($0.name) } ?? .null,
                "devices": verdict.map { .number(UInt64($0.lookup.state.devices.count)) } ?? .null,
                "handle": .string(keystore.handle.description),
                "outcome": verdict.map { .string($0.outcome.name) } ?? .null,
            ]
        }

        private func text(
            _ keystore: SignetClient.Keystore, _ custody: Custody?, _ verdict: LookupVerdict?
        ) -> String {
            var lines = [Paint.output.strong(keystore.handle.description)]
            if let custody {
                lines += [
                    "  Your digital identity is on this device, and \(custody.words[0])", "  \(custody.words[1])",
                ]
            } else {
                lines.append("  Your digital identity is on another device. This one speaks for it.")
            }
            if let verdict {
                lines.append("  The log shows it \(OwnAccount.words(verdict)).")
                lines += verdict.lookup.state.devices.map { device in
                    let own = device.keys.signing == keystore.keys.signing
                    return "  device \(device.number), added \(Moment.date(device.addedAt))"
                        + (own ? "  this device" : "")
                }
            }
            return lines.joined(separator: "\n")
        }
    }

    /// `signet identity join`
    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "On a new device: make its keys, and a card with which your other device links it.",
            discussion: """
                Shows twelve digits. The other device shows the same when it got this very card; compare them before you \
                say yes there. The card is good for an hour.
                """)

        @Argument(help: "Your handle.") var handle: String
        @Option(help: ArgumentHelp("The directory file that its operator gave you.", valueName: "file"))
        var directory: String
        @Option(help: ArgumentHelp("Where to put the card.", valueName: "file")) var card: String = "device.card"
        @Flag(help: "Draw the card as a QR code too; it needs a window of 150 columns.") var qr = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let (made, _) = try await Account.makeCard(
                home, try Handle.typed(handle), directory: directory, at: card)
            let code = try LinkCode.of(made)
            output.emit(
                [
                    "card": .string(card), "code": .string(code.text),
                    "handle": .string(made.request.handle.description),
                ],
                """
                \(Paint.output.good("✓")) This device has keys of its own. Its card is in \(Paint.output.strong(card)).
                  On your other device:  signet identity link-device \(card)
                  It has to show:        \(Paint.output.strong(code.text))
                """ + (qr ? "\n" + (QRSymbol(made.encoded)?.text ?? "") : ""))
        }
    }

    /// `signet identity link-device`
    struct LinkDevice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Link the device that made a card, after comparing twelve digits.",
            discussion: """
                From a picture of its QR code:  zbarimg --raw -Sbinary PICTURE | signet identity link-device /dev/stdin \
                --code DIGITS
                """)

        @Argument(help: ArgumentHelp("The card.", valueName: "file")) var card: String
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
                ["number": .number(UInt64(number)), "outcome": "linked"],
                """
                \(Paint.output.good("✓")) Device \(number) is linked, and the log proves it.
                  Your friends are asked to accept it the next time they look you up.
                """)
        }
    }

    /// `signet identity revoke-device`
    struct RevokeDevice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take a device's right to speak for you.",
            discussion: "What it could read before, it keeps.")

        @Argument(help: "Its number in 'signet identity status'.") var number: UInt16
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            _ = try await Session(home).revokeDevice(number)
            output.emit(
                ["number": .number(UInt64(number)), "outcome": "revoked"],
                "\(Paint.output.good("✓")) Device \(number) no longer speaks for you, and the log proves it.")
        }
    }
}
