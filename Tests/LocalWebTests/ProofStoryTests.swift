// SPDX-License-Identifier: Apache-2.0

import Signet
import SignetTesting
import Testing

@testable import LocalWeb

/// Proofs that are saved from a page, and checked by one without any server.
@Suite struct ProofStoryTests {
    private struct Files {
        var proof, entry, policy: [UInt8]

        /// The files that the page of checks about bob leads to.
        init(_ browser: Browser) async throws {
            let page = try await browser.get("people/\(Stage.bob)/checks")
            #expect(page.shown.contains("Keep the proof"))
            var found: [String: [UInt8]] = [:]
            for file in ProofFile.allCases {
                let path = "people/\(Stage.bob)/proof?file=\(file.rawValue)"
                #expect(page.body.contains("\(browser.path(path))\""))
                let saved = try await browser.get(path)
                #expect(saved.status == 200 && saved.field("content-type") == "application/octet-stream")
                #expect(
                    saved.field("content-disposition")
                        == "attachment; filename*=UTF-8''bob@example.org.\(file.ending)")
                found[file.rawValue] = saved.content
            }
            proof = try #require(found["proof"])
            entry = try #require(found["entry"])
            policy = try #require(found["policy"])
        }

        func check(in browser: Browser, withPolicy: Bool = true) async throws -> RawExchange {
            try await browser.post(
                "proof", [],
                files: [("proof", "p", proof), ("entry", "e", entry)] + (withPolicy ? [("policy", "whom", policy)] : [])
            )
        }
    }

    @Test func aProofIsSavedAndChecked_andEachOfItsPartsCounts() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let files = try await Files(browser)
            // Another lookup, in a log that has grown, does not mix with these files.
            try await stage.addDeviceOfBob()
            let shown = try await browser.get("people/\(Stage.bob)/proof?file=proof")
            #expect(shown.content == files.proof)

            for withPolicy in [true, false] {
                let held = try await files.check(in: browser, withPolicy: withPolicy)
                #expect(held.status == 200 && held.shown.contains("The proof holds"), "\(held.notices)")
                #expect(held.shown.contains("Whose entry it is: the entry hides the handle."))
                #expect(held.shown.contains("By what the file whom says, not by your own directory") == withPolicy)
            }
            var other = files
            other.entry[0] ^= 1
            let moved = try await other.check(in: browser)
            #expect(moved.status == 422 && moved.shown.contains("The entry is not where the proof says it is"))
            other = files
            other.proof = Array(files.proof.dropFirst())
            #expect(try await other.check(in: browser).shown.contains("The file is not a proof"))
            other = files
            other.policy = Array("quorum".utf8)
            #expect(try await other.check(in: browser).shown.contains("whom is not a policy"))
            let none = try await browser.post("proof", [], files: [("proof", "p", files.proof)])
            #expect(none.status == 422 && none.shown.contains("A file is missing."))
        }
    }

    @Test func aProofHoldsWithoutTheServer_andWhileTheAccountIsLocked() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let files = try await Files(browser)
            try await Served.alone { app in
                let elsewhere = try await app.browser()
                let held = try await files.check(in: elsewhere)
                #expect(held.status == 200 && held.shown.contains("The proof holds"))
                // The directory of that home has another log.
                let unknown = try await files.check(in: elsewhere, withPolicy: false)
                #expect(unknown.status == 422 && unknown.shown.contains("The policy does not name this log."))
            }
        }
    }

    @Test func someoneWhoIsNotInTheLogHasNoProof() async throws {
        try await Stage.run { stage in
            let browser = try await stage.befriended()
            let page = try await browser.get("people/nobody@example.org/checks")
            #expect(!page.shown.contains("Keep the proof"))
            let file = try await browser.get("people/nobody@example.org/proof?file=proof")
            #expect(file.field("location") == browser.path("people/nobody@example.org/checks"))
            let unnamed = try await browser.get("people/\(Stage.bob)/proof?file=keys")
            #expect(unnamed.field("location") == browser.path("people/\(Stage.bob)/checks"))
        }
    }
}
