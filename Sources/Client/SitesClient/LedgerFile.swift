// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import SignetClient

/// What a ``LedgerFile`` keeps: it has one wire form, which begins with its first line.
protocol SealedLedger: Sendable {
    /// The first line of the wire form.
    static var format: [UInt8] { get }
    /// Nothing yet.
    init()
    /// The wire form, padded.
    var encoded: [UInt8] { get }
    /// Reads exactly what ``encoded`` writes.
    init(decoding bytes: [UInt8]) throws
}

extension SealedLedger {
    /// Zeros to a multiple of 4096 bytes, so that the length of the file says little.
    static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4096 - bytes.count % 4096) % 4096)
    }

    // MARK: Sealing: 12-byte nonce, ciphertext, 16-byte tag; AES-256-GCM, the first line as associated data

    func sealed(under key: SymmetricKey) -> [UInt8]? {
        guard let box = try? AES.GCM.seal(encoded, using: key, authenticating: Self.format) else { return nil }
        return box.combined.map { Array($0) }
    }

    init?(opening sealed: [UInt8], with key: SymmetricKey) {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let opened = try? AES.GCM.open(box, using: key, authenticating: Self.format),
            let ledger = try? Self(decoding: Array(opened))
        else { return nil }
        self = ledger
    }
}

/// A list in the home folder, sealed under a secret of the keystore.
struct LedgerFile<Ledger: SealedLedger>: Sendable {
    private let keystore: any PrivateKeyStore
    private let name: PrivateKeyName
    private let file: DurableFile
    /// The longest file, in bytes.
    private let maximumByteCount = 4_194_304

    init(keys keystore: any PrivateKeyStore, sealedUnder name: PrivateKeyName, file: DurableFile) {
        self.keystore = keystore
        self.name = name
        self.file = file
    }

    /// The list, and what it is sealed under. The secret is made the first time.
    func open(_ grant: consuming PresenceGrant) async throws(SitesError) -> (Ledger, SymmetricKey) {
        let key: SymmetricKey?
        do { key = try await keystore.secret(named: name, grant) } catch {
            guard error == .noSuchKey else { throw .keystore(error) }
            key = nil
        }
        if let key { return (try read(with: key), key) }
        guard !file.exists else { throw .listDamaged }
        let fresh = SymmetricKey(size: .bits256)
        do { try await keystore.keep(fresh, named: name) } catch { throw .keystore(error) }
        return (Ledger(), fresh)
    }

    /// Changes the list as it is now: since it was read, another program may have written.
    func change<Value>(
        under key: SymmetricKey, _ body: (inout Ledger) throws(SitesError) -> Value
    ) throws(SitesError) -> Value {
        let lock: FileLock?
        do { lock = try FileLock(file.path + ".lock") } catch { throw .list(error) }
        guard let lock else { throw .keystore(.busy) }
        defer { withExtendedLifetime(lock) {} }
        var ledger = try read(with: key)
        let value = try body(&ledger)
        try write(ledger, under: key)
        return value
    }

    private func write(_ ledger: Ledger, under key: SymmetricKey) throws(SitesError) {
        guard let sealed = ledger.sealed(under: key), sealed.count <= maximumByteCount else { throw .listDamaged }
        do { try file.replace(with: sealed) } catch { throw .list(error) }
    }

    private func read(with key: SymmetricKey) throws(SitesError) -> Ledger {
        guard file.exists else { return Ledger() }
        let sealed: [UInt8]
        do { sealed = try file.read(maximumByteCount: maximumByteCount) } catch { throw .list(error) }
        guard let ledger = Ledger(opening: sealed, with: key) else { throw .listDamaged }
        return ledger
    }
}
