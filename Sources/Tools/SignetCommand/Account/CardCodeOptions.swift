// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import QRCode
import Signet

/// How the card of a new device is shown to the camera of another.
struct CardCodeOptions: ParsableArguments {
    @Flag(help: "Also draw the card as a QR code, if the window is wide enough.") var qr = false
    @Option(help: ArgumentHelp("Also write the QR code into this file, as a PNG picture.", valueName: "file"))
    var picture: String?

    func write(_ card: MadeCard, outside home: HomeFolder) throws {
        if let picture { try QRSymbol.write(card.bytes, as: picture, outside: home) }
    }

    /// Lines for the page, each with a line end before it.
    func drawn(_ card: MadeCard) -> String {
        let code = qr ? QRSymbol(card.bytes)?.shownText : nil
        return [picture.map { "  Its QR code is in \($0)." }, code].compactMap { $0 }.map { "\n" + $0 }.joined()
    }
}
