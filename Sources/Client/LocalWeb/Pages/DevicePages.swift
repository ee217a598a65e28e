// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import Signet

/// The user's devices: seen, added and removed.
extension WebPages {
    /// The devices that the log has for the account. Public, so that no passphrase is needed to see them.
    func devices(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let own = try await account.ownAccount()
        let home = await account.home
        let linked = await account.linked
        let context = await context(request.session)
        let content: HTML = """
            <div class="head"><div><h1>Your devices</h1><p class="lead">As the log has them: what is not here cannot act for you.</p></div>\
            <div class="line"><a class="button main" href="\(context.to(.addDevice))">Add a device</a></div></div>\
            \(own.alarm.map { Part.notice(wording.advice($0, in: home), .alarm, context) } ?? .none)\
            \(linked.map(confirmation) ?? .none)<ul class="list">\(own.devices.map { row($0, home, context) })</ul>
            """
        return .page(context.page("Your devices", in: .devices, isNarrow: true, content))
    }

    private func row(_ device: OwnDevice, _ home: OpenHome, _ context: PageContext) -> HTML {
        let added = UInt64(max(0, device.addedAt.timeIntervalSince1970))
        let identity = HTML.when(device.isThisDevice && home.keystore?.identityKey != nil, " Holds your identity.")
        let number = Int(device.number)
        let remove: HTML =
            "<a class=\"button\" href=\"\(context.to(.removeDevice(device.number)))\">Remove device \(number)</a>"
        return """
            <li class="row">\(Part.icon("device"))<div class="grow"><p class="strong">Device \(number)\
            \(HTML.when(device.isThisDevice, ": this one"))</p><p class="small muted">Since \(WebTime.day(added, context.now)).\
            \(identity)</p></div>\(HTML.when(!device.isThisDevice, remove))</li>
            """
    }

    /// The digits that the user types on the device that was added.
    private func confirmation(_ device: LinkedDevice) -> HTML {
        let groups = device.confirmation.split(separator: " ").map { "<li>\(String($0))</li>" as HTML }
        return """
            <section class="card" aria-labelledby="type"><h2 id="type">Type these digits on device \(Int(device.number))</h2>\
            <p>It is in your account, and the log proves it. It accepts nothing before you type them there.</p>\
            <ol class="digits" aria-label="Three groups of four digits">\(groups)</ol>\
            <p class="help">If it asks for a command: <code>signet devices confirm</code>. Your friends are asked to accept it the next time \
            they look you up.</p></section>
            """
    }

    // MARK: Adding

    func addDevice(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        let context = await context(request.session)
        let typed = request.form ?? request.session.takeTyped(of: .addDevice)
        let content: HTML = """
            \(Part.crumb("Your devices", context.to(.devices)))<div class="head"><div><h1>Add a device</h1><p class="lead">The new device \
            makes a card without secrets: run <code>signet account join</code> on it. This device compares the card with the digits that the \
            new one shows.</p></div></div>\(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.form(
                .addDevice, as: "card",
                """
                \(Part.text(
                    "The card, as text", name: "card", value: typed?["card"] ?? "", rows: 6,
                    help: "What <code>base64 &lt; device.card</code> prints on the new device. Send it as you like."))\
                \(Part.field(
                    "The twelve digits that the new device shows", name: "code", value: typed?["code"] ?? "",
                    help: "Read them on its own screen, not in a message: they show that no one changed the card.",
                    more: " class=\"code-field\" inputmode=\"numeric\" required"))\
                \(Part.passphrase("For this act alone: to add a device."))\
                <div class="line end"><a class="button" href="\(context.to(.devices))">Cancel</a>\
                \(Part.button("Add it", as: "button main"))</div>
                """))
            """
        return .page(
            context.page("Add a device", in: .devices, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    func takeDevice(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        do throws(SignetError) {
            let card = try await account.card(text: form["card"] ?? "").compared(typed: form["code"] ?? "")
            try await account.link(card, with: SecretBytes(copying: (form["passphrase"] ?? "").utf8))
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await addDevice(request, await advice(error))
        }
        return .see(WebPath(.devices, below: mount))
    }

    // MARK: Removing

    /// A number is never given to another device: a page that is old removes no other device than the one that it showed.
    func removeDevice(
        _ number: UInt16, _ request: WebRequest, _ advice: Advice?
    ) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        let own = try await account.ownAccount()
        let context = await context(request.session)
        guard let device = own.devices.first(where: { $0.number == number }), !device.isThisDevice else {
            let none = Advice(
                "There is no other device of yours with this number.",
                "A device is removed from another one. \u{201C}Your devices\u{201D} shows those that you have.")
            return .page(
                context.page(
                    "No such device", in: .devices, isNarrow: true, Part.notice(none, .known, context, isPage: true)),
                status: 404)
        }
        let content: HTML = """
            \(Part.crumb("Your devices", context.to(.devices)))<div class="head"><div><h1>Remove device \(Int(number))?</h1>\
            <p class="lead">It cannot act for you any more. What it could read before, it keeps.</p></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.form(
                .removeDevice(number), as: "card",
                """
                <p>Your notes get new keys, which it does not know. A notes password and a recovery key on paper end with the old ones.</p>\
                \(Part.passphrase("For this act alone: to remove device \(Int(number))."))\
                <div class="line end"><a class="button" href="\(context.to(.devices))">Keep it</a>\
                \(Part.button("Remove it", as: "button danger"))</div>
                """))
            """
        return .page(
            context.page("Remove a device", in: .devices, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    func takeRemoval(
        _ number: UInt16, _ form: FormBody, _ request: WebRequest
    ) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        guard try await account.ownAccount().devices.contains(where: { $0.number == number && !$0.isThisDevice }) else {
            return try await removeDevice(number, request, nil)
        }
        let notes: RevokedNotes
        do throws(SignetError) {
            notes = try await account.revoke(number, with: SecretBytes(copying: (form["passphrase"] ?? "").utf8))
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await removeDevice(number, request, await advice(error))
        }
        let missing: HTML = wording.words(notes, in: await account.home).map { " \($0)" } ?? .none
        request.session.say("Device \(Int(number)) is no longer yours, and the log proves it.\(missing)")
        return .see(WebPath(.devices, below: mount))
    }
}
