// SPDX-License-Identifier: Apache-2.0

import CanaryScan
import Crypto
import Foundation
import KeyTransparency
import NoteLog
import SecretMemory

@testable import NotesClient
@testable import SealedNotes
@testable import SecureCell
@testable import SignetClient

/// A home's keys and notes, opened beside the program with the home's own passphrase.
struct OpenedHome {
    let keystore: Keystore
    let device: DeviceSecrets
    let accounts: [UInt32: AccountMasterKey]
    let notes: [HeldNote]

    /// - Parameter home: where the keystore and the notes are.
    init(_ home: URL) throws {
        let folder = HomeFolder(path: home.path())
        keystore = try Keystore(decoding: folder.keystore.read(maximumByteCount: 1 << 16))
        device = try keystore.open(with: Self.passphrase)
        let store = try NotesStore.open(at: home.path() + "/notes.sqlite")
        let (wraps, files) = try store.read(nil) { tables in
            (try tables.accountKeys(), try tables.notes().map { try tables.file(of: $0) })
        }
        try store.close()
        let agreement = try DeviceAgreementKeys(device)
        let handle = device.handle
        accounts = try wraps.reduce(into: [:]) { keys, wrap in
            let own = AuthorKeys(pinned: [wrap.sender.device], of: handle)
            keys[wrap.epoch] = try wrap.open(with: agreement, own: own)
        }
        let opener = NoteOpener(owner: handle, device: agreement, accounts: accounts)
        notes = try files.compactMap { try opener.open($0) }
    }

    static var passphrase: SecretBytes { SecretBytes(copying: Program.passphrase.utf8) }

    var author: Author { Author(handle: device.handle, device: device.keys.signing) }
}

/// All secrets that a home has made or received.
struct ClientSecrets {
    private(set) var canaries: [Canary] = []

    init(of home: URL) throws {
        let name = home.lastPathComponent
        func add(_ what: String, _ bytes: [UInt8]) { canaries.append(Canary("\(name): \(what)", bytes)) }
        let opened = try OpenedHome(home)
        let device = opened.device
        add("passphrase", Array(Program.passphrase.utf8))
        add("stretched passphrase", bytes(try opened.keystore.key(from: OpenedHome.passphrase)))
        add("device's signing key", bytes(device.signing))
        add("device's agreement key", bytes(device.agreement))
        add("device's X-Wing key", bytes(device.kem))
        if case .held(let identity) = device.identity { add("identity key", bytes(identity)) }
        for account in opened.accounts.values {
            add("account master key", bytes(account.secret))
            add("key of own notes", bytes(account.key(for: "signet-own-wrap/v1")))
        }
        for note in opened.notes {
            for (epoch, key) in note.keys { add("note key of epoch \(epoch)", bytes(key.secret)) }
            for revision in note.revisions.revisions.map(\.record) {
                if let key = note.keys[revision.epoch] { add("content key", try Self.contentKey(revision, under: key)) }
            }
            for attachment in (try? note.document?.get())?.attachments ?? [] { add("file key", bytes(attachment.key)) }
        }
    }

    /// The key of a revision's cell.
    private static func contentKey(_ revision: RevisionRecord, under key: NoteKey) throws -> [UInt8] {
        let context = SealingContext.revision(
            note: revision.note, epoch: revision.epoch, number: revision.number, parent: revision.parent,
            author: revision.author)
        let length = UInt32(revision.sealed.count - Seal.overhead)
        return bytes(try SoterKDF.messageKey(from: key.secret, length: length, context: context, byteCount: 32))
    }
}

private func bytes(_ key: SymmetricKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }
private func bytes(_ secret: SecretBytes) -> [UInt8] { secret.withBytes { Array($0) } }
