// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import PinnedHTTP
import SignetAPI
import SignetClient
import TransparencyLog

/// A transport that serves a log of the test's own making, signed with the directory's keys.
struct LogCopy: HTTPTransport {
    let head: TreeHead
    let note: SignedNote
    private let files: [String: [UInt8]]

    init(_ entries: [[UInt8]], keys: DirectoryKeys) throws {
        var tree = MerkleTree()
        for entry in entries { tree.append(.leaf(entry)) }
        head = TreeHead(size: tree.size, root: try tree.root(size: tree.size))
        let text = try Checkpoint(origin: keys.log.verifierKey.name, head: head).text
        let now = Surroundings.system.now()
        var signatures = [try keys.log.sign(text)]
        for cosigner in keys.cosigners { signatures.append(try cosigner.cosign(text, time: now)) }
        note = try SignedNote(text: text, signatures: signatures)
        var files = ["/log/checkpoint": note.encoded]
        for tile in Tile.added(from: 0, to: tree.size) {
            let start = Int(tile.index) * Tile.fullWidth
            files["/log/" + String(decoding: tile.path, as: UTF8.self)] =
                tile.content == .entries
                ? try EntryBundle(entries: Array(entries[start..<start + tile.width])).encoded
                : try tile.encode(tree.hashes(of: tile))
        }
        self.files = files
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let body = files[request.path]
        return TransportResponse(status: body == nil ? 404 : 200, mediaType: nil, body: body ?? [])
    }
}
