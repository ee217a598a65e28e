// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// The home folder behind the pages: its account, or what has been done so far towards one.
actor WebHome {
    let folder: HomeFolder
    let surroundings: Surroundings
    /// What the pages get from the program besides the folder.
    private let equipment: WebEquipment
    private var account: WebAccount?
    /// A recovery under way whose keys are open.
    private var recovery: (running: AccountRecovery, lastUse: UInt64)?

    /// A home with an account.
    init(_ home: OpenHome, _ equipment: WebEquipment, in surroundings: Surroundings) {
        (folder, self.equipment, self.surroundings) = (home.folder, equipment, surroundings)
        account = WebAccount(home, equipment, in: surroundings)
    }

    /// A home that may have none.
    init(at folder: HomeFolder, _ equipment: WebEquipment, in surroundings: Surroundings) {
        (self.folder, self.equipment, self.surroundings) = (folder, equipment, surroundings)
    }

    /// What the folder has now. Another program may have made an account meanwhile.
    func look() async throws(SignetError) -> WebStage {
        if let account { return .account(account) }
        guard folder.keystore.exists else { return .beginning(.empty, nil) }
        let home = try OpenHome(folder, in: surroundings)
        let stage = try await home.stage()
        // The last step of a recovery takes several requests: it is repeated until it has brought everything back.
        guard stage == .account, recovery == nil else {
            return .beginning(stage == .account ? .recovering : stage, home)
        }
        let found = account ?? WebAccount(home, equipment, in: surroundings)
        account = found
        return .account(found)
    }

    /// Wipes what is open.
    func close() async {
        recovery = nil
        await account?.lock()
    }

    // MARK: A new identity

    /// Makes keys and registers them; interrupted, it is done again with the same keys.
    func create(
        _ handle: Handle, at profile: DirectoryProfile, _ keys: NewKeys, with proof: RegistrationProof?
    ) async throws(SignetError) {
        await begin(
            with: try await Account.create(
                handle, at: profile, in: folder, passphrase: keys.passphrase, keysAt: keys.place,
                proof: proof, surroundings: surroundings))
    }

    private func begin(with opened: Account) async {
        let made = WebAccount(await opened.home, equipment, in: surroundings)
        await made.begin(with: opened)
        (account, recovery) = (made, nil)
    }

    // MARK: Another device

    /// Makes keys and a card; again, another card for the same keys.
    func makeCard(_ handle: Handle, at profile: DirectoryProfile, _ keys: NewKeys) async throws(SignetError) {
        _ = try await Account.makeCard(
            for: handle, at: profile, in: folder, passphrase: keys.passphrase, keysAt: keys.place,
            surroundings: surroundings)
    }

    /// Accepts the account once the other device has added this one, and opens it.
    func join(_ home: OpenHome, typed code: String, _ passphrase: SecretBytes) async throws(SignetError) {
        let approval = try await home.approval(of: .unlock) { _ in passphrase }
        let accepted = try await home.accountToConfirm().accept(typed: code)
        await begin(with: try await Account(accepted, approval.secrets))
    }

    // MARK: Recovering

    /// Asks guardians, or goes on asking them.
    func recover(
        _ handle: Handle, at profile: DirectoryProfile, _ keys: NewKeys, calling name: String, with paper: AskKey?,
        naming guardians: [Handle], withFormer: Bool
    ) async throws(SignetError) {
        let (running, _) = try await AccountRecovery.begin(
            handle, at: profile, in: folder, passphrase: keys.passphrase, calling: name, with: paper,
            naming: guardians, withFormer: withFormer, keysAt: keys.place, surroundings: surroundings)
        recovery = (running, surroundings.now())
    }

    /// Opens the keys of a recovery that was left. Wrong passphrases are counted.
    func resume(_ home: OpenHome, _ passphrase: SecretBytes) async throws(SignetError) {
        let approval = try await home.approval(of: .unlock) { _ in passphrase }
        recovery = (AccountRecovery(home, approval.secrets), surroundings.now())
    }

    /// How the recovery stands, by the directory; nil while its keys are closed.
    func progress(naming guardians: [Handle] = []) async throws(SignetError) -> RecoveryProgress? {
        guard let running = opened() else { return nil }
        return try await running.progress(naming: guardians)
    }

    /// Restores the identity with the passphrase, for this act alone.
    func finish(_ passphrase: SecretBytes) async throws(SignetError) -> RecoveredAccount {
        guard let running = opened() else { throw .presence(.locked) }
        let approval = try await running.home.approval(of: .recoverIdentity) { _ in passphrase }
        let (account, recovered) = try await running.finish(approval)
        await begin(with: account)
        return recovered
    }

    private func opened() -> AccountRecovery? {
        guard let open = recovery, surroundings.now() < open.lastUse + WebAccount.openSeconds else {
            recovery = nil
            return nil
        }
        recovery?.lastUse = surroundings.now()
        return open.running
    }
}

/// What a home has.
enum WebStage: Sendable {
    /// No account yet.
    case beginning(HomeStage, OpenHome?)
    case account(WebAccount)
}

/// What the user chose for new keys.
struct NewKeys: Sendable {
    let passphrase: SecretBytes
    /// nil for the file alone, and for keys that are there.
    let place: KeystorePlaceKind?
}
