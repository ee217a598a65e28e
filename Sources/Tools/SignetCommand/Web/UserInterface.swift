// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import LocalWeb
import Platform
import Signet

/// `signet ui`
struct UserInterface: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ui",
        abstract: "Open the app in your browser: first start, people, notes, calls, cards, guardians.",
        discussion: """
            Serves pages to this machine alone, from this process, until Ctrl-C. It prints a link that opens them in one browser, once, \
            within five minutes; press Enter for another one. Your passphrase is asked for in the browser, and sent to this process only. \
            In a home without an account the pages make one, join that of another device, or recover one with guardians.

            Examples:
              signet ui
              signet ui --port 8400 --no-open
            """)

    @Option(help: ArgumentHelp("The port; without it, any that is free.", valueName: "number")) var port: UInt16 = 0
    @Flag(help: "Only print the link; do not open a browser.") var noOpen = false
    @Option(
        help: ArgumentHelp(
            "For sites that ask for cards, trust the certificates of this PEM file instead of the system's.",
            valueName: "file"))
    var roots: String?
    @Option(
        help: ArgumentHelp(
            "Where your sound in a call comes from: a command that writes 16-bit samples, 48,000 per second, one channel. "
                + "Without it, 'arecord', if it is installed.", valueName: "command"))
    var microphone: String?
    @Option(
        help: ArgumentHelp(
            "What plays the others in a call: a command that reads samples of that kind. Without it, 'aplay', if it is installed.",
            valueName: "command"))
    var loudspeaker: String?
    @Option(
        help: ArgumentHelp(
            "When you meet somebody, wait at this IP address of this machine; by default at those that it has.",
            valueName: "address"))
    var address: String?
    @OptionGroup var home: ClosedHomeOptions

    func run() async throws {
        let folder = home.folder
        // A home that has keys must be in order; one without leads to an account.
        if folder.keystore.exists { _ = try Session(home) }
        do { try folder.prepare() } catch { throw CommandFailure(error, path: folder.path) }
        var equipment = WebEquipment(
            siteRoots: try roots.map { try AnchorOptions.anchors(at: $0) },
            voice: SoundPrograms(microphone: microphone, loudspeaker: loudspeaker), pictures: ScannedPictures())
        if let address { equipment.meetingAddresses = [try Meet.address(address)] }
        let service = WebService(at: folder, saying: CommandWording(options: home), with: equipment)
        let place = LinkFile(folder)
        defer { place.remove() }
        let opensBrowser = !noOpen && isatty(STDOUT_FILENO) == 1
        do {
            try await service.run(port: Int(port)) { port in
                Self.show(service.makeLink(port: port))
                if opensBrowser { place.open(service.makeLink(port: port)) }
                Self.listen { Self.show(service.makeLink(port: port)) }
            }
        } catch WebServiceError.cannotListen {
            throw CommandFailure(
                .environment, "Port \(port) of this machine is in use.",
                "Choose another one with --port, or leave --port out.")
        }
    }

    private static func show(_ link: String) {
        Output.line(link)
        Output.error("Open it in your browser within five minutes. Enter: another link. Ctrl-C: end.")
    }

    /// Calls back for each line that the person enters. A thread of its own: reading blocks it.
    private static func listen(_ onLine: @escaping @Sendable () -> Void) {
        guard isatty(STDIN_FILENO) == 1 else { return }
        Thread.detachNewThread { while readLine() != nil { onLine() } }
    }
}

/// A page in the home folder, which only the person can read, that leads a browser to the link: on a browser's command line every user of this
/// machine would see the link, and could be the first to open it.
private struct LinkFile: Sendable {
    private let file: DurableFile

    init(_ home: HomeFolder) { file = DurableFile(path: home.path + "/ui-link.html") }

    func open(_ link: String) {
        let page =
            "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=\(link)\"><title>Signet</title>\n"
        guard (try? file.replace(with: Array(page.utf8))) != nil else { return }
        Desktop.open(file.path)
    }

    func remove() { try? FileManager.default.removeItem(atPath: file.path) }
}
