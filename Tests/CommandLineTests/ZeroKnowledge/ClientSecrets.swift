import CanaryScan
import Crypto
import Foundation
import KeyTransparency
import NoteLog

@testable import NotesClient
@testable import SealedNotes
@testable import SecureCell
@testable import SignetClient

/// Every secret that a home has made or was given, read from it after the fact with its own passphrase.
struct ClientSecrets {
    private(set) var canaries: [Canary] = []

    /// - Parameter home: where the keystore and the notes are.
    init(of home: URL) throws {
        let name = home.lastPathComponent
        func add(_ what: String, _ bytes: [UInt8]) { canaries.append(Canary("\(name): \(what)", bytes)) }
        let folder = HomeFolder(path: home.path())
        let keystore = try Keystore(decoding: folder.keystore.read(maximumByteCount: 1 << 16))
        let passphrase = SecretBytes(copying: Program.passphrase.utf8)
        let device = try keystore.open(with: passphrase)
        add("passphrase", Array(Program.passphrase.utf8))
        add("stretched passphrase", bytes(try keystore.key(from: passphrase)))
        add("device's signing key", bytes(device.signing))
        add("device's agreement key", bytes(device.agreement))
        add("device's X-Wing key", bytes(device.kem))
        if let identity = device.identity { add("identity key", bytes(identity)) }
        let store = try NotesStore.open(at: home.path() + "/notes.sqlite")
        let (row, files) = try store.read { tables in
            (try tables.account(), try tables.notes().map { try tables.file(of: $0) })
        }
        try store.close()
        let agreement = try DeviceAgreementKeys(device)
        let account = try row.deviceWrap.map {
            try $0.open(with: agreement, own: AuthorKeys(pinned: [$0.sender.device], of: device.handle))
        }
        if let account {
            add("account master key", bytes(account.secret))
            add("key of own notes", bytes(account.key(for: "signet-own-wrap/v1")))
        }
        let opener = NoteOpener(owner: device.handle, device: agreement, account: account)
        for file in files {
            guard let note = try opener.open(file) else { continue }
            for (epoch, key) in note.keys { add("note key of epoch \(epoch)", bytes(key.secret)) }
            for revision in note.revisions.revisions.map(\.record) {
                if let key = note.keys[revision.epoch] { add("content key", Self.contentKey(revision, under: key)) }
            }
            for attachment in (try? note.document?.get())?.attachments ?? [] { add("file key", bytes(attachment.key)) }
        }
    }

    /// What a revision's cell is sealed under.
    private static func contentKey(_ revision: RevisionRecord, under key: NoteKey) -> [UInt8] {
        let context = SealingContext.revision(
            note: revision.note, epoch: revision.epoch, number: revision.number, parent: revision.parent,
            author: revision.author)
        let length = UInt32(revision.sealed.count - Seal.overhead)
        return bytes(SoterKDF.messageKey(from: key.secret, length: length, context: context, byteCount: 32))
    }
}

private func bytes(_ key: SymmetricKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }
private func bytes(_ secret: SecretBytes) -> [UInt8] { secret.withBytes { Array($0) } }
