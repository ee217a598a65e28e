// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

@Sendable func logParsers() -> [Parser] {
    [
        .canonical("checkpoint", Checkpoint.init(decoding:), \.text),
        .canonical("signed note", { (note: [UInt8]) in try SignedNote(decoding: note) }, \.encoded),
        .canonical("verifier key", VerifierKey.init(decoding:), \.encoded),
        .canonical("tlog-proof", TlogProof.init(decoding:), \.encoded),
        .canonical("add-checkpoint", AddCheckpointRequest.init(decoding:), \.encoded),
        .canonical("tile path", Tile.init(decodingPath:), \.path),
        .canonical("key name", { try KeyName($0) }, \.bytes),
        Parser("tile hashes") { bytes in
            let width = bytes.count / TreeHash.byteCount
            guard let tile = try? Tile(.hashes(level: 0), index: 0, width: width),
                let hashes = try? tile.hashes(decoding: bytes)
            else { return false }
            demand(try? tile.encode(hashes), equals: bytes, "tile hashes: another tile was written")
            return true
        },
        Parser("entry bundle") { bytes in
            guard let width = bytes.first else { return false }
            let rest = Array(bytes.dropFirst())
            guard let bundle = try? EntryBundle(decoding: rest, width: Int(width)) else { return false }
            demand(bundle.encoded, equals: rest, "entry bundle: another bundle was written")
            return true
        },
        .settled("policy", { try Policy(decoding: $0) }, \.encoded),
        .settled("witnessed logs", { try WitnessedLogs(decoding: $0) }, \.encoded),
        Parser("witness answer") { bytes in
            for status in [200, 403, 404, 409, 422, 429] { _ = WitnessAnswer(status: status, body: bytes) }
            return true
        },
    ]
}
