// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Credentials
import SelectiveDisclosure
import Signet

/// `signet card make`
struct CardMake: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make", abstract: "Make a business card and sign it.",
        discussion: """
            Keep the file to yourself: 'signet card show' shows as much of it as you choose.

            Example: signet card make my.card --name Alice --organization Example
            """)

    @Argument(help: "Where to put the card.") var file: String
    @Option(help: "Your name.") var name: String
    @Option(help: "The organization that you work for.") var organization: String?
    @Option(help: "Your job title.") var title: String?
    @Option(help: "Your email address.") var email: String?
    @Option(help: "Your telephone number.") var phone: String?
    @Option(help: "Your website.") var website: String?
    @Option(help: "Anything else.") var note: String?
    @Option(help: "For how many days the card is valid, 1 to 3650.") var days: UInt16 = 365
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...3650).contains(days) else { throw ValidationError("--days is from 1 to 3650.") }
    }

    func run() throws {
        let session = try Session(home)
        let (keystore, key) = try session.cardOwner()
        let expiry = Int64(clamping: Surroundings.system.now()) + Int64(days) * 86_400
        let draft: CredentialDraft
        do { draft = try BusinessCard(fields).draft(for: key, until: expiry) } catch { throw CommandFailure(error) }
        try OutputFile.checkRoom(file, outside: session.home)
        try OutputFile.write(
            try signed(draft, session, keystore) + [UInt8(ascii: "\n")], to: file, outside: session.home)
        output.emit(
            ["fields": .array(names.map { .string($0) }), "file": .string(file)],
            """
            \(Paint.output.good("✓")) Your card is in \(Paint.output.strong(PrintedValue.printable(file))), valid for \
            \(Moment.count(UInt64(days), "day")).
              Show it:  signet card show \(PrintedValue.printable(file)) --qr
            """)
    }

    private var fields: [BusinessCard.Field: String] {
        let all: [BusinessCard.Field: String?] = [
            .name: name, .organization: organization, .title: title, .email: email, .telephone: phone,
            .website: website, .note: note,
        ]
        return all.compactMapValues(\.self)
    }

    private var names: [String] { BusinessCard.Field.allCases.filter { fields[$0] != nil }.map(\.rawValue) }

    private func signed(_ draft: CredentialDraft, _ session: Session, _ keystore: Keystore) throws -> [UInt8] {
        let secrets = try session.secrets()
        var generator = SystemRandomNumberGenerator()
        var failure: KeystoreError?
        do { return try draft.issued(using: &generator) { secrets.signature($0, failure: &failure) } } catch {
            throw CommandFailure(failure ?? .keysDoNotFit, path: session.home.keystore.path)
        }
    }
}
