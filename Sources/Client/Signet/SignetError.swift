// SPDX-License-Identifier: Apache-2.0

public import DeviceKeystores
public import KeyTransparency
public import NotesClient
public import PinnedHTTP
public import RecoveryClient
public import SealedMessages
public import SignetAPI
public import SignetClient
public import SitesClient

public import enum Credentials.BusinessCardFault

/// Why an account could not be opened, or could not do what it was asked.
///
/// Security: the description names the case and what a user may be told. It contains no key, handle or path, and nothing that a
/// server sent, so it is safe in an app's log.
public enum SignetError: Error, Hashable, Sendable {
    // MARK: The home folder

    /// There is no account in the folder.
    case noAccount(folder: String)
    /// Another process is making an account in the folder. A retry may help.
    case isBeingMade(folder: String)
    /// Another program has been using the folder for twenty seconds. A retry may help.
    case isBusy(folder: String)
    /// The folder holds an account, or a device, that is not the one asked for.
    case isTaken(folder: String, by: TakenFolder)
    /// A file cannot be read or written.
    case file(FileFault, path: String)
    /// The file is not a directory file.
    case directoryFile(HomeError, path: String)
    /// The keystore is damaged, or the passphrase is wrong.
    case keystore(KeystoreError, path: String)
    /// The store of what was verified and accepted cannot be read.
    case store(StoreError, path: String)
    /// There are keys, but the store of what was verified and accepted is empty: any key would be believed.
    case memoryLost(path: String)
    /// The directory file does not name a server that can be connected to.
    case address(TransportError, url: String)
    /// The directory file cannot be used, because it names no log or several.
    case profile(ClientError, url: String)

    /// The passphrase could be guessed too soon.
    case weakPassphrase(SecretWeakness)

    // MARK: The user

    /// The user did not approve: the passphrase was wrong or not given, or the approval was for something else.
    case presence(PresenceRefusal)

    // MARK: The directory

    /// A request to the directory, or the verification of its answer, failed.
    case client(ClientError)
    /// The directory has changed its keys, and other or fewer witnesses would suffice from now on. The user decides.
    case quorumWeakened
    /// The directory has changed its keys, and the store has evidence against it. The user decides.
    case evidenceHeld
    /// The directory says that the handle is already registered by someone else, which it cannot prove. The new keys were put
    /// aside.
    case handleTaken(keystore: String, directory: String)
    /// The same, and the new keys could not be put aside.
    case handleTakenAndKept(FileFault, keystore: String)

    // MARK: Devices, guardians and sites

    /// The account no longer lists this device, because it was removed.
    case removedDevice
    /// The digits do not match the card: the card was changed in transit, or the digits were mistyped.
    case otherCard
    /// The directory shows this new device a different account from the one the user's other device has, or the digits were
    /// mistyped.
    case otherAccount
    /// A step with guardians failed.
    case recovery(RecoveryClientError)
    /// An operation with a site failed.
    case sites(SitesError)
    /// A card for a wallet was not made.
    case walletCard(WalletCardFault)
    /// A business card cannot be made of what the user wrote.
    case businessCard(BusinessCardFault)
    /// A page for browsers is not what the log names.
    case webPage(LoggedPagesFault)
    /// The file with the keys to sites cannot be used.
    case siteKeys(SealedFileFault, path: String)

    // MARK: People and messages

    /// The user has not added this person.
    case stranger(Handle)
    /// A person's devices or identity differ from those that the user accepted: show the change, and ask.
    case changed(KeyChange)
    /// What the directory shows about a person contradicts what it proved before.
    case contradicted(Handle, PeerContradiction)
    /// The identities of the user and a person do not match as they were compared. Nothing was recorded.
    case comparison(ComparisonRefusal, with: Handle)
    /// The user and another person have not met, as far as their devices can tell. Nothing was recorded.
    case meeting(MeetingRefusal)
    /// A message was not sealed, or a received message is not for this device and context.
    case message(SealedMessageError)
    /// An operation on the notes failed.
    case notes(NotesError)

    /// What a folder already holds.
    public enum TakenFolder: Hashable, Sendable {
        /// An account of this handle.
        case account(Handle)
        /// A device that was linked to the account with the same handle.
        case linkedDevice(Handle)
        /// The account, registered with another directory file.
        case anotherDirectory
        /// The account, registered and complete.
        case sameAccount(Handle)
        /// Keys of the account, begun with another place for a part of them or without a place.
        case keysElsewhere(Handle)
    }

    /// Whether the directory says that it does not know the handle: it is misspelt, or the person has no account yet.
    public var isUnknownHandle: Bool {
        switch self {
        case .client(.refused(.notFound, _)), .client(.notRegistered): true
        default: false
        }
    }

    /// The error family, which says who is at fault.
    public var family: ErrorFamily {
        switch self {
        case .noAccount, .isTaken, .profile, .address, .stranger, .changed, .quorumWeakened, .evidenceHeld,
            .weakPassphrase, .presence, .businessCard, .removedDevice, .otherCard, .otherAccount:
            .caller
        case .isBeingMade, .isBusy, .file: .environment
        case .directoryFile, .keystore, .memoryLost, .siteKeys: .caller
        case .recovery(let error): error.family
        case .sites(let error): error.family
        case .walletCard(let fault): fault.family
        case .webPage(let fault): fault.family
        case .store(let error, _): error.family
        case .client(let error): error.family
        case .handleTaken, .handleTakenAndKept, .contradicted: .peer
        case .comparison(.otherDigits, _), .comparison(.code, _): .peer
        case .comparison(.tooFewDigits, _): .caller
        case .meeting(let refusal): refusal.family
        case .message(let error): error.isOfTheCaller ? .caller : .peer
        case .notes(let error): error.family
        }
    }
}

/// A change of a person's devices or identity that waits for the user's approval.
public struct KeyChange: Hashable, Sendable {
    /// The person's handle.
    public let handle: Handle
    /// How the keys differ from those that the user accepted.
    public let change: PeerKeyChange
    /// Identifies the change, so that ``Account/accept(_:)-(KeyChange)`` accepts the one that was shown and no other: SHA-256 of the new
    /// state, 32 bytes.
    public let stateHash: [UInt8]

    init(_ verdict: LookupVerdict, _ change: PeerKeyChange) {
        (handle, self.change, stateHash) = (verdict.handle, change, verdict.stateHash)
    }
}

extension SealedMessageError {
    /// Whether sealing a message failed; otherwise the failure concerns a received message.
    var isOfTheCaller: Bool {
        switch self {
        case .invalidContext, .tooLong, .invalidRecipients, .unusableKey, .signingFailed: true
        default: false
        }
    }
}
