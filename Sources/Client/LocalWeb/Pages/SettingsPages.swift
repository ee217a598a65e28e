// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import DIDKey
import Foundation
import Signet
import TransparencyLog

extension WebPages {
    func settings(_ request: WebRequest) async -> WebAnswer {
        let home = await account.home
        let context = await context(request.session)
        let keystore = home.keystore
        let content: HTML = """
            <div class="head"><div><h1>Settings</h1></div></div><section class="card"><h2>This device</h2><dl class="facts">\
            \(Part.fact("Account", keystore.map { Part.handle($0.handle) } ?? "None on this device"))\
            \(Part.fact("Keys", keystore.map { "\(wording.words($0).sentence)" } ?? "None"))\
            \(Part.fact("Folder", "<code>\(home.folder.path)</code>"))\
            \(Part.fact("Locks", "15 minutes after your last action, or when you press “Lock now”"))\
            \(Part.fact("Appearance", "Light or dark, as your system is set"))\
            \(Part.fact("Signet", "\(Release.version)"))</dl></section>\
            <p class="line"><a class="button" href="\(context.to(.guardians))">Your guardians</a> \
            <a class="button" href="\(context.to(.devices))">Your devices</a> \
            <a class="button" href="\(context.to(.cards))">Your cards</a> \
            <a class="button" href="\(context.to(.sites))">Your sites</a> \
            <a class="button" href="\(context.to(.meet))">Meet somebody</a></p>\
            <section class="card"><h2>Advanced</h2><p class="muted">Nothing here is needed from day to day.</p><dl class="facts">\
            \(advanced(home))</dl></section>
            """
        return .page(context.page("Settings", in: .settings, isNarrow: true, content))
    }

    private func advanced(_ home: OpenHome) -> HTML {
        var facts: [HTML] = []
        if let keystore = home.keystore {
            facts.append(
                Part.fact(
                    "Digital identity",
                    keystore.identityKey.map { Self.did(.p256, $0) } ?? "On another device of yours"))
            facts.append(Part.fact("This device, signing", Self.did(.ed25519, keystore.keys.signing)))
            facts.append(Part.fact("This device, agreeing", Self.did(.p256, keystore.keys.agreement)))
        }
        facts.append(Part.fact("Directory", "<code>\(home.profile.url)</code>"))
        for log in home.profile.trust.policy.logs {
            facts.append(Part.fact("Log", "<code>\(String(decoding: log.name.bytes, as: UTF8.self))</code>"))
        }
        facts.append(Part.fact("Witnesses", "\(home.profile.trust.policy.witnesses.count)"))
        return HTML(facts)
    }

    private static func did(_ algorithm: KeyAlgorithm, _ key: [UInt8]) -> HTML {
        guard let did = try? KeyDID(algorithm, publicKey: key) else { return "Malformed" }
        return "<code>\(String(decoding: did.encoded, as: UTF8.self))</code>"
    }
}
