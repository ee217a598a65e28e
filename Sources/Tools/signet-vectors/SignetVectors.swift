// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SignetAPI

/// Runs published test vectors through Signet's modules, and makes the project's own.
@main struct SignetVectors: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signet-vectors",
        abstract: "Run test vectors through Signet, or make Signet's own.",
        discussion: """
            Every suite takes any file of its schema, prints each case that fails and closes with the line \
            "N passed, N failed". It ends with 0 when all passed, 1 when any failed, 65 when a file is not of the \
            schema, 66 when it cannot be read.
            """,
        version: Release.version,
        subcommands: [
            MerkleSuite.self, TilesLogSuite.self, Ed25519Suite.self, VRFSuite.self, TlogProofSuite.self,
            CosignedCheckpointsSuite.self, MPTSuite.self,
            DIDKeySuite.self,
            SLIP39Suite.self,
            FROSTShareSuite.self,
            SFrameSuite.self,
            WitnessSuite.self,
            ThemisSuite.self,
            OPAQUESuite.self,
            LookupSuite.self,
            PinsSuite.self,
            LimboSuite.self,
            HPKESuite.self,
            CallDigestSuite.self,
            WycheproofSuite.self,
            PresentationSuite.self,
            StatusListSuite.self,
            RequestObjectSuite.self,
            ResponseSuite.self,
            MobileDocumentSuite.self,
            Generate.self,
        ])
}
