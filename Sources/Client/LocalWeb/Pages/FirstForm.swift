// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// What each way to an account asks for: whose it is, at which directory, and how the new keys are kept.
struct FirstForm: Sendable {
    let handle: Handle
    let profile: DirectoryProfile
    let keys: NewKeys

    /// Reads a form.
    ///
    /// - Parameters:
    ///   - open: the folder with its keys and its directory, if it has keys already; then neither is asked for.
    init(_ form: FormBody, _ open: OpenHome?, _ wording: any WebWording) throws(FirstFormProblem) {
        let passphrase = SecretBytes(copying: (form["passphrase"] ?? "").utf8)
        if let open, let keystore = open.keystore {
            (handle, profile) = (keystore.handle, open.profile)
            keys = NewKeys(passphrase: passphrase, place: nil)
            return
        }
        do { handle = try Handle(typed: Array((form["handle"] ?? "").trimmed.utf8)) } catch { throw .handle }
        let bytes = Self.directory(in: form)
        guard !bytes.isEmpty else { throw .noDirectory }
        do { profile = try DirectoryProfile(decoding: bytes) } catch {
            let error = SignetError.directoryFile(.profile(error), path: "What you gave as the directory file")
            throw .other(wording.advice(error, in: nil))
        }
        guard form["again"] == form["passphrase"] else { throw .other(wording.differingPassphrases) }
        guard let place = Self.places.first(where: { $0.word == form["keystore"] }) else { throw .place }
        keys = NewKeys(passphrase: passphrase, place: place.kind)
    }

    /// The directory file: the one that was chosen, else the text of it. Browsers add line ends of their own to a text, and people spaces around it.
    private static func directory(in form: FormBody) -> [UInt8] {
        if let file = form.file("directory-file") { return Array(file.content) }
        let text = (form["directory"] ?? "").trimmed
        return text.isEmpty ? [] : Array((text + "\n").utf8)
    }

    private static let places: [(word: String, kind: KeystorePlaceKind?, name: HTML)] = [
        ("file", nil, "A file, sealed under the passphrase"),
        ("keyring", .keyring, "That, and a secret in this desktop’s keyring"),
        ("tpm", .tpm, "That, and this machine’s TPM 2.0, which keeps the identity key"),
    ]

    // MARK: Its fields

    /// The fields for whose account it is, and where.
    static func whose(_ form: FormBody?, _ open: OpenHome?) -> HTML {
        if let handle = open?.keystore?.handle {
            return Part.field(
                "Handle", name: "handle", value: handle.description, help: "Its keys are in this folder.",
                more: " readonly")
        }
        let text = form.map { form in
            form.file("directory-file").map {
                String(decoding: $0.content.prefix(DirectoryProfile.maximumByteCount), as: UTF8.self)
            }
                ?? form["directory"] ?? ""
        }
        return """
            \(Part.field(
                "Handle", name: "handle", value: form?["handle"] ?? "", help: "Like ming@example.org.",
                more: " inputmode=\"email\" required"))\
            <div class="field"><label for="directory-file">Directory file</label>\
            <input id="directory-file" name="directory-file" type="file">\
            <p class="help">The directory’s operator or a friend gives it to you. From then on this device believes no other directory.</p></div>\
            \(Part.text("Or its text", name: "directory", value: text ?? "", rows: 3))
            """
    }

    /// The fields for how the keys are kept; of keys that are there, only the passphrase that they have.
    static func passphrase(_ form: FormBody?, _ open: OpenHome?) -> HTML {
        guard open?.keystore == nil else { return Part.passphrase("The one that you chose for these keys.") }
        let chosen = form?["keystore"] ?? "file"
        let options = places.map { place -> HTML in
            "<option value=\"\(place.word)\"\(HTML.when(place.word == chosen, " selected"))>\(place.name)</option>"
        }
        return """
            <div class="field"><label for="passphrase">New passphrase</label><input id="passphrase" name="passphrase" type="password" \
            autocomplete="new-password" required><p class="help">Five or six words that do not belong together. It opens your keys on this \
            device, is kept by no one, and cannot be reset; guardians can help.</p></div>\
            <div class="field"><label for="again">The same again</label><input id="again" name="again" type="password" \
            autocomplete="new-password" required></div>\
            <div class="field"><label for="keystore">Where the keys are kept</label><select id="keystore" name="keystore">\(options)\
            </select></div>
            """
    }
}

/// What is wrong with such a form.
enum FirstFormProblem: Error, Sendable {
    case handle, noDirectory, place
    case other(Advice)

    var advice: Advice {
        switch self {
        case .handle:
            Advice(
                "That is not a handle.", means: "Nothing was made.",
                "A handle looks like ming@example.org: correct it below.")
        case .noDirectory:
            Advice(
                "No directory file was chosen.", means: "Nothing was made.",
                "Choose the file that the directory’s operator gave you, or paste its text.")
        case .place:
            Advice("That is no place for keys.", means: "Nothing was made.", "Choose one of the list.")
        case .other(let advice): advice
        }
    }
}

extension PageContext {
    /// A form that may have a file.
    func fileForm(_ route: WebRoute, as kind: StaticString, _ content: HTML) -> HTML {
        """
        <form method="post" enctype="multipart/form-data" action="\(to(route))" class="\(word: kind)">\
        <input type="hidden" name="form-token" value="\(formToken)">\(content)</form>
        """
    }
}
