// SPDX-License-Identifier: Apache-2.0

import CanaryScan
import Crypto
import Foundation
import GRDB
import KeyTransparency
import NotesAPI
import OPAQUE
import Testing

@testable import SealedNotes

/// The secrets that a login by password makes on the client, derived again with the server's own secrets and rows.
struct LoginSecrets {
    let canaries: [Canary]

    init(of account: String, password: Canary, server: URL) throws {
        let keys = try LoginServerKeys(
            decoding: Array(Data(contentsOf: server.appending(path: "notes/login.key"))).span)
        let handle = try Handle(typed: Array(account.utf8))
        let queue = try DatabaseQueue(path: server.appending(path: "notes/notes.sqlite").path())
        let rows = try queue.read { db in
            try Row.fetchAll(
                db, sql: "SELECT login, password FROM accounts WHERE handle = ?", arguments: [Data(handle.bytes)])
        }
        try queue.close()
        let row = try #require(rows.first)
        let record: Data = try #require(row["login"]), wrap: Data = try #require(row["password"])
        let parameters = try LoginParameters(context: LoginBinding.context, clientIdentity: handle.bytes)
        let client = try ClientLogin(password: password.bytes.span)
        let answer = try ServerLogin(
            client.request, record: RegistrationRecord(decoding: Array(record)), credential: handle.bytes, keys: keys,
            parameters: parameters)
        let outcome = try client.finish(
            answer.response, password: password.bytes.span, parameters: parameters, stretching: .strong)
        // This key opens the row.
        _ = try AccountKeyWrap(decoding: Array(wrap)).open(exportKey: outcome.exportKey, of: handle)
        canaries = [Canary("export key", outcome.exportKey.withUnsafeBytes { Array($0) })]
    }

    /// The secret of a printed login key, and its mix with a password, with which a login is done.
    static func mixed(_ password: Canary, with printed: Canary) throws -> [Canary] {
        let groups = PrintedGroups(byteCount: 16, count: LoginKey.groupCount)
        let secret = try groups.secret(typed: printed.bytes).withUnsafeBytes { Array($0) }
        let mixed = try password.bytes.withUnsafeBytes { try LoginKey(typed: printed.bytes).mixed(with: $0) }
        return [Canary("login key", secret), Canary("password with login key", mixed.withUnsafeBytes { Array($0) })]
    }

    /// The key under which a printed key seals the account master key.
    static func wrapKey(of printed: Canary) throws -> [UInt8] {
        try RecoveryKey(typed: printed.bytes).wrapKey.withUnsafeBytes { Array($0) }
    }
}
