// SPDX-License-Identifier: Apache-2.0

package import CardSigner
package import CardSigning
import KeyPinning
package import KeyTransparency
import Platform
import SignetAPI
import TransparencyLog

/// The files of a server that signs wallet cards.
package struct CardSignerFiles: Sendable {
    private let data: DataDirectory
    private var folder: String { data.path + "/cards" }
    private var statement: String { folder + "/statement" }
    private var signerKey: String { folder + "/signer.key" }
    private var tokenKey: String { folder + "/token.key" }
    private var tokens: String { folder + "/tokens.sqlite" }

    private let engines: SharedEngines?

    /// The files in a data directory.
    ///
    /// - Parameter engines: where the ledger is that several machines share; nil: in a file.
    package init(_ data: DataDirectory, in engines: SharedEngines? = nil) {
        self.data = data
        self.engines = engines
    }

    /// Whether the server signs cards.
    package var exist: Bool { access(statement, F_OK) == 0 }

    /// Makes them, or puts another certificate in the place of the one in use: then the statement gets its next version, and tokens
    /// keep their worth. The server may be running; it logs the statement within the interval of `--republish`.
    ///
    /// - Parameters:
    ///   - certificates: PEM, the signer's first.
    ///   - key: of the first certificate, PEM.
    ///   - limit: how many tokens an account gets in a month.
    /// - Returns: what the server says of itself from now on.
    /// - Throws: ``CardSignerFilesError``: nothing has changed.
    @discardableResult package func set(
        certificates: [UInt8], key: [UInt8], limit: UInt64
    ) throws(CardSignerFilesError) -> CardSignerStatement {
        let origin: KeyName
        do throws(StoredDirectoryError) {
            guard let log = try StoredDirectory.readProfile(data).trust.policy.logs.first else { throw .noLog }
            origin = log.name
        } catch { throw .directory(error) }
        let chain = (try? PEMBlock.certificates(in: certificates)) ?? []
        guard let first = chain.first, chain.count <= CardSignerStatement.maximumCertificateCount else {
            throw .certificate
        }
        guard let subject = PassSubject(ofCertificate: first) else { throw .subject }
        guard CardSigningKey(pem: String(decoding: key, as: UTF8.self), of: first) != nil else { throw .key }
        do throws(FileFailure) {
            let old = exist ? try? CardSignerStatement(decoding: PrivateFile.read(statement)) : nil
            if access(folder, F_OK) != 0 { try PrivateFile.makeFolder(folder) }
            let tokens = try tokenSigner()
            let new = CardSignerStatement(
                origin: origin, version: (old?.version ?? 0) + 1, limit: limit, tokenKey: tokens.publicKey,
                subject: subject, certificates: chain)
            // The statement last: until it is there, the signer is the one of before, whose key the next call replaces again.
            try PrivateFile.replace(signerKey, with: key)
            try PrivateFile.replace(statement, with: new.text)
            return new
        } catch { throw .file(error) }
    }

    private func tokenSigner() throws(FileFailure) -> TokenSigner {
        if access(tokenKey, F_OK) == 0,
            let signer = TokenSigner(pem: String(decoding: try PrivateFile.read(tokenKey), as: UTF8.self))
        {
            return signer
        }
        guard let signer = try? TokenSigner() else { throw FileFailure(tokenKey, code: EIO) }
        try PrivateFile.replace(tokenKey, with: signer.pem.utf8)
        return signer
    }

    /// The signer that the files describe, on a ledger.
    ///
    /// - Throws: ``CardSignerFilesError``.
    func signer(_ ledger: TokenLedger) throws(CardSignerFilesError) -> SigningDesk {
        let (statement, signing, tokens) = try read()
        guard let signer = SigningDesk(statement, signing: signing, tokens: tokens, ledger: ledger) else {
            throw .damaged(folder)
        }
        return signer
    }

    /// Looks whether a signer can be made of the files.
    ///
    /// - Throws: ``CardSignerFilesError``.
    func check() throws(CardSignerFilesError) { _ = try read() }

    private func read() throws(CardSignerFilesError) -> (CardSignerStatement, CardSigningKey, TokenSigner) {
        let (text, key, tokens): ([UInt8], [UInt8], [UInt8])
        do throws(FileFailure) {
            (text, key, tokens) = try (
                PrivateFile.read(statement), PrivateFile.read(signerKey), PrivateFile.read(tokenKey)
            )
        } catch { throw .file(error) }
        guard let statement = try? CardSignerStatement(decoding: text), let first = statement.certificates.first,
            let signing = CardSigningKey(pem: String(decoding: key, as: UTF8.self), of: first),
            let tokens = TokenSigner(pem: String(decoding: tokens, as: UTF8.self))
        else { throw .damaged(folder) }
        return (statement, signing, tokens)
    }

    /// Forgets how many tokens an account has had, where nothing else in this process has the ledger open.
    ///
    /// - Throws: `TokenLedgerError`.
    package func erase(_ handle: Handle) async throws(TokenLedgerError) {
        guard exist || engines != nil || access(tokens, F_OK) == 0 else { return }
        let ledger = try ledger()
        defer { ledger.close() }
        try await ledger.erase(handle)
    }

    /// Opens the ledger.
    ///
    /// - Throws: `TokenLedgerError`.
    func ledger() throws(TokenLedgerError) -> TokenLedger {
        guard let engines else { return try TokenLedger(at: tokens) }
        do { return TokenLedger(on: try engines.database(TokenLedger.schema)) } catch { throw .unavailable }
    }
}

/// Why a server does not sign cards.
public enum CardSignerFilesError: Error, Sendable {
    /// The data directory's own files were not read.
    case directory(StoredDirectoryError)
    /// A file was not read or written.
    case file(FileFailure)
    /// There is no certificate, or more than ``CardSigning/CardSignerStatement/maximumCertificateCount``.
    case certificate
    /// The certificate does not say for which cards it signs: user identifier (UID) and organizational unit (OU).
    case subject
    /// The key is not the certificate's, or neither P-256 nor RSA with 2048 to 4096 bits.
    case key
    /// The files in this folder do not belong together.
    case damaged(String)
}
