// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import SecretMemory
import Signet

/// A new identity, and another device of an existing one.
extension FirstPages {
    // MARK: A new identity

    func newIdentity(_ form: FormBody?, _ advice: Advice?, _ open: OpenHome?) -> WebAnswer {
        let context = context
        let isGoingOn = open?.keystore != nil
        let content: HTML = """
            \(Part.crumb("Back", context.to(.start)))<div class="head"><div><h1>\
            \(isGoingOn ? "Go on with your new identity" : "Your new identity")</h1><p class="lead">This device makes its keys, and the \
            directory’s log shows that they are yours.</p></div></div>\(problem(advice))\
            \(context.fileForm(
                .first(.new), as: "card",
                """
                \(FirstForm.whose(form, open))\
                \(Part.field(
                    "Invitation", name: "invitation", value: form?["invitation"] ?? "",
                    help: "Only if the operator gave you a code; otherwise leave it empty."))\
                \(FirstForm.passphrase(form, open))\
                <div class="line apart"><a href="\(context.to(.start))">Back</a>\(Part.button("Make it mine", as: "button main"))</div>
                """))
            """
        return page("Your new identity", advice, content)
    }

    func takeNew(_ form: FormBody, _ open: OpenHome?) async -> WebAnswer {
        let wanted: FirstForm
        do { wanted = try FirstForm(form, open, wording) } catch { return newIdentity(form, error.advice, open) }
        let code = (form["invitation"] ?? "").trimmed
        let proof = RegistrationProof(typed: code)
        guard code.isEmpty || proof != nil else {
            return newIdentity(
                form,
                Advice(
                    "That is not an invitation.", means: "Nothing was made.",
                    "It has 32 digits from 0 to 9 and a to f, as the operator’s server printed them."), open)
        }
        do throws(SignetError) {
            try await home.create(wanted.handle, at: wanted.profile, wanted.keys, with: proof)
        } catch {
            let open = await reopened(open)
            return newIdentity(form, wording.advice(error, registering: wanted.handle, in: open), open)
        }
        session.say("\(Part.handle(wanted.handle)) is yours, and the log proves it. This device is device 1.")
        return .see(WebPath(.home, below: mount))
    }

    // MARK: Another device

    func join(_ form: FormBody?, _ advice: Advice?) -> WebAnswer {
        let context = context
        let content: HTML = """
            \(Part.crumb("Back", context.to(.start)))<div class="head"><div><h1>Another device of yours</h1><p class="lead">Step 1 of 2: \
            this device makes its own keys, and a card without secrets for the device that you have.</p></div></div>\(problem(advice))\
            \(context.fileForm(
                .first(.join), as: "card",
                """
                \(FirstForm.whose(form, nil))\(FirstForm.passphrase(form, nil))\
                <div class="line apart"><a href="\(context.to(.start))">Back</a>\(Part.button("Make the card", as: "button main"))</div>
                """))
            """
        return page("Another device of yours", advice, content)
    }

    /// - Parameter step: joining, or making another card for the same keys.
    func takeJoin(_ form: FormBody, _ step: FirstStep, _ open: OpenHome?) async -> WebAnswer {
        let wanted: FirstForm
        do { wanted = try FirstForm(form, open, wording) } catch { return join(form, error.advice) }
        do throws(SignetError) { try await home.makeCard(wanted.handle, at: wanted.profile, wanted.keys) } catch {
            let advice = wording.advice(error, in: await reopened(open))
            if let open = await reopened(open), open.keystore != nil { return await waiting(open, form, advice) }
            return join(form, advice)
        }
        return .see(WebPath(.first(.join), below: mount))
    }

    /// What this device shows the other one, and where the other's digits are typed.
    func waiting(_ open: OpenHome, _ form: FormBody?, _ advice: Advice?) async -> WebAnswer {
        let context = context
        let made: MadeCard?
        do throws(SignetError) { made = try await open.pendingCard() } catch { return broken(error) }
        let shown: HTML = made.map { card($0, form, context) } ?? .none
        let content: HTML = """
            <div class="head"><div><h1>Add this device on the one that you have</h1><p class="lead">Step 2 of 2. You can close this page; \
            it is found again.</p></div></div>\(problem(advice))\(shown)\
            <section class="card" aria-labelledby="again-heading"><h2 id="again-heading">\(made == nil ? "Make the card" : "Make another card")\
            </h2><p class="muted">A card is good for an hour. Another one makes the one before it useless.</p>\
            \(context.form(
                .first(.remake), as: "section",
                "\(passphrase("remake", "To make a card with the keys in this folder."))\(Part.button("Make a card"))"))</section>
            """
        return page("Add this device", advice, content)
    }

    private func card(_ made: MadeCard, _ form: FormBody?, _ context: PageContext) -> HTML {
        let groups = made.code.split(separator: " ").map { "<li>\(String($0))</li>" as HTML }
        return """
            <section class="card" aria-labelledby="card-heading"><h2 id="card-heading">1. Its card</h2>\
            <p>On the other device: <b>Devices</b>, <b>Add a device</b>. Give it this card; there is no secret in it.</p>\
            \(WebPages.code(made.bytes, of: "the card of this device", isDense: true))\
            \(Part.text(
                "The card, as text", name: "card", value: String(decoding: Base64.encode(made.bytes), as: UTF8.self), rows: 4,
                more: " readonly"))\
            <p class="line"><a class="button" href="\(context.to(.first(.card)))">Save it as a file</a></p>\
            <h2 id="shown">2. Type these digits there</h2><ol class="digits" aria-labelledby="shown">\(groups)</ol>\
            <p class="help">They show the other device that no one changed the card on its way.</p></section>\
            <section class="card" aria-labelledby="confirm-heading"><h2 id="confirm-heading">3. Type its digits here</h2>\
            \(context.form(
                .first(.confirm), as: "section",
                """
                \(Part.field(
                    "The twelve digits that the other device shows", name: "code", value: form?["code"] ?? "",
                    help: "They show this device that the directory shows it your account, and no other.",
                    more: " class=\"code-field\" inputmode=\"numeric\" required"))\
                \(Part.passphrase("The one that you chose on this device."))\
                <div class="line end">\(Part.button("They are the same", as: "button main"))</div>
                """))</section>
            """
    }

    /// A field for the passphrase on a page that has several.
    private func passphrase(_ form: StaticString, _ help: HTML) -> HTML {
        """
        <div class="field"><label for="passphrase-\(word: form)">Passphrase</label><input id="passphrase-\(word: form)" \
        name="passphrase" type="password" autocomplete="current-password" required><p class="help">\(help)</p></div>
        """
    }

    /// The card as the file that the command line reads.
    func card(_ open: OpenHome) async -> WebAnswer {
        do throws(SignetError) {
            guard let made = try await open.pendingCard() else { return .see(WebPath(.first(.join), below: mount)) }
            return SavedFile.answer(named: Array("device.card".utf8), made.bytes)
        } catch { return broken(error) }
    }

    func takeConfirmation(_ form: FormBody, _ open: OpenHome?) async -> WebAnswer {
        guard let open else { return .see(WebPath(.start, below: mount)) }
        do throws(SignetError) {
            try await home.join(
                open, typed: form["code"] ?? "", SecretBytes(copying: (form["passphrase"] ?? "").utf8))
        } catch { return await waiting(open, form, wording.advice(error, in: open)) }
        session.say("This device is yours now, and acts for your account.")
        return .see(WebPath(.home, below: mount))
    }
}
