// SPDX-License-Identifier: Apache-2.0

import SignetServer

extension Verdict {
    static func of(_ error: CardSignerFilesError) -> Verdict {
        switch error {
        case .directory(let error): Verdict(error)
        case .file(let failure): Verdict(.notMade, Self.sentence(failure))
        case .certificate:
            Verdict(.damaged, "--certificate: there has to be a certificate, PEM, and at most three above it")
        case .subject:
            Verdict(
                .damaged,
                "--certificate: its subject names no user identifier (UID) and organizational unit (OU), so it signs no cards"
            )
        case .key:
            Verdict(
                .damaged,
                "--key: it is not the key of the certificate, or neither P-256 nor RSA with 2048 to 4096 bits")
        case .damaged(let path):
            Verdict(.damaged, "the files in \(path) do not belong together: call signetd cards set again")
        }
    }
}
