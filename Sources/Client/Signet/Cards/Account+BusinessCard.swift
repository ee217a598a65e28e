// SPDX-License-Identifier: Apache-2.0

public import Credentials
import KeyTransparency
import PinnedHTTP
public import SelectiveDisclosure
import SignetClient

/// The user's own business card, which the identity key signs. It is kept in the home folder, readable by the user alone.
extension Account {
    /// The longest card that is read, in bytes.
    private static let maximumCardByteCount = 131_072

    /// The card; nil if there is none.
    ///
    /// - Throws: ``SignetError``.
    public func businessCard() async throws(SignetError) -> HeldCredential? {
        let file = home.folder.businessCard
        guard file.exists else { return nil }
        let bytes: [UInt8]
        do { bytes = try file.read(maximumByteCount: Self.maximumCardByteCount, isSecret: true) } catch {
            throw .file(error, path: file.path)
        }
        guard let card = try? HeldCredential(decoding: bytes),
            BusinessCard.isCard(card, of: secrets.identityKey ?? [])
        else { return nil }
        return card
    }

    /// Makes the card, in place of one that is there.
    ///
    /// - Parameters:
    ///   - fields: with a name.
    ///   - days: for how long it is valid.
    /// - Throws: ``SignetError``: ``SignetError/businessCard(_:)``, and `.recovery(.identityElsewhere)` on a device without the identity.
    public func makeBusinessCard(
        _ fields: [BusinessCard.Field: String], validForDays days: Int = 365
    ) async throws(SignetError) {
        let file = home.folder.businessCard
        let key = try cardKey()
        let expiry = Int64(clamping: surroundings.now()) + Int64(days) * 86_400
        let draft: CredentialDraft
        do { draft = try BusinessCard(fields).draft(for: key, until: expiry) } catch { throw .businessCard(error) }
        var generator = SystemRandomNumberGenerator()
        let card: [UInt8]
        do { card = try draft.issued(using: &generator) { [secrets] in try? secrets.signAsIdentity($0) } } catch {
            throw .keystore(.keysDoNotFit, path: home.folder.keystore.path)
        }
        do { try file.replace(with: card) } catch { throw .file(error, path: file.path) }
    }

    /// The link of a page that checks the card in a browser: https, with the card in its fragment, signed for this moment. It is accepted
    /// for two minutes. The server does not get the card.
    ///
    /// - Parameter fields: the lines that are shown.
    /// - Throws: ``SignetError``.
    public func link(
        to card: HeldCredential, showing fields: Set<BusinessCard.Field>
    ) async throws(SignetError) -> [UInt8] {
        _ = try cardKey()
        let shown: [UInt8]
        do {
            shown = try ShownCard.presented(
                card, disclosing: Set(fields.map(\.claim)), at: Int64(clamping: surroundings.now())
            ) { [secrets] bytes throws(KeystoreError) in
                guard let signature = try secrets.signAsIdentity(bytes) else { throw .keysDoNotFit }
                return signature
            }
        } catch { throw .keystore(error, path: home.folder.keystore.path) }
        return ShownCardLink.link(at: home.profile.url, shown)
    }

    private func cardKey() throws(SignetError) -> [UInt8] {
        guard let key = secrets.identityKey else { throw .recovery(.identityElsewhere) }
        return key
    }
}
