// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import SignetClient
import Testing

/// The new secrets that are refused, and the reasons: an attacker may guess at them offline without a limit.
@Suite struct SecretWeaknessTests {
    private func weakness(_ text: String) -> SecretWeakness? {
        SecretWeakness.first(of: SecretBytes(copying: text.utf8), knowing: ["alice.miller@example.org"])
    }

    @Test func weakSecretsAreRefusedWithAReason() {
        let refused: [(String, SecretWeakness)] = [
            ("", .short(0)), ("tr0ub4dor", .short(9)), ("pässwörte", .short(9)), ("20111983470", .digits),
            ("aaaaaaaaaaaaaaaa", .predictable), ("abcdefghijklmnop", .predictable), ("qwertzuiopasdfgh", .predictable),
            ("xk7xk7xk7xk7xk7xk7", .predictable), ("98765432109876543210", .predictable),
            ("Password2026!", .wellKnown), ("correct horse battery staple", .wellKnown),
            ("alicemiller1983", .wellKnown),
            ("Miller-example-1", .wellKnown), ("iloveyou password", .wellKnown),
        ]
        for (text, reason) in refused { #expect(weakness(text) == reason, "\(text)") }
    }

    @Test func severalWordsAreAccepted() {
        for text in [
            "three blind mice", "correct horse", "Kuchen mit Sahne", "b7Qx!f0zLw", "48151623421083746590",
            "übermüde Äpfel",
        ] { #expect(weakness(text) == nil, "\(text)") }
    }

    @Test func aNameOfAnotherPersonIsAccepted() {
        let secret = SecretBytes(copying: "alicemiller1983".utf8)
        #expect(SecretWeakness.first(of: secret, knowing: ["bob@example.org"]) == nil)
    }
}
