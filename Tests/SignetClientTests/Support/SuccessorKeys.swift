// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import TransparencyLog
import VRF

extension DirectoryKeys {
    /// The keys of the log that succeeds a test's log.
    static func successor() throws -> DirectoryKeys {
        let name = try KeyName("example.org/next".utf8)
        return DirectoryKeys(
            log: try NoteSigner(name: name, algorithm: .ed25519, seed: [UInt8](repeating: 3, count: 32)),
            cosigners: [
                try NoteSigner(
                    name: DirectoryKeys.clockName(of: name), algorithm: .cosignatureV1,
                    seed: [UInt8](repeating: 4, count: 32))
            ],
            vrf: try VRFPrivateKey([9] + [UInt8](repeating: 0, count: 31)))
    }
}
