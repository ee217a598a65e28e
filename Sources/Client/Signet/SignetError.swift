public import DeviceKeystores
public import KeyTransparency
public import NotesClient
public import PinnedHTTP
public import RecoveryClient
public import SealedMessages
import SignetAPI
public import SignetClient
public import SitesClient

/// Why an account could not be opened, or not do what it was asked.
///
/// Security: the description names the case and what a user may be told. It has no key, no handle, no path and nothing of what a server
/// sent, so that it may stand in an app's log.
public enum SignetError: Error, Hashable, Sendable {
    // MARK: The home folder

    /// There is no account in the folder.
    case noAccount(folder: String)
    /// Another process makes an account in the folder. A retry may help.
    case isBeingMade(folder: String)
    /// Another program has been at work in the folder for twenty seconds. A retry may help.
    case isBusy(folder: String)
    /// The folder holds an account, or a device, that is not the one asked for.
    case isTaken(folder: String, by: TakenFolder)
    /// A file cannot be read or written.
    case file(FileFault, path: String)
    /// The directory file is not one.
    case directoryFile(HomeError, path: String)
    /// The keystore is damaged, or the passphrase wrong.
    case keystore(KeystoreError, path: String)
    /// What was verified and accepted cannot be read.
    case store(StoreError, path: String)
    /// There are keys, and the file of what was verified and accepted is empty: any key would be believed.
    case memoryLost(path: String)
    /// The directory file names no server that can be connected to.
    case address(TransportError, url: String)
    /// The directory file cannot be used, for it names no log, or several.
    case profile(ClientError, url: String)

    /// The passphrase would be guessed too soon.
    case weakPassphrase(SecretWeakness)

    // MARK: The user

    /// The user did not approve of it: the passphrase was wrong, or not given, or the approval was of something else.
    case presence(PresenceRefusal)

    // MARK: The directory

    /// Asking the directory, or judging its answer, failed.
    case client(ClientError)
    /// The directory has changed its keys, and other or fewer witnesses would suffice from now on: the user decides.
    case quorumWeakened
    /// The directory has changed its keys, and there is evidence against it in the store: the user decides.
    case evidenceHeld
    /// The directory says that somebody else has registered the handle, which it cannot prove. The new keys were put aside.
    case handleTaken(keystore: String, directory: String)
    /// The same, and the new keys could not be put aside.
    case handleTakenAndKept(FileFault, keystore: String)

    // MARK: Devices, guardians and sites

    /// The account does not list this device any more: it was removed.
    case removedDevice
    /// The digits are not those of the card: somebody changed it on the way, or they were mistyped.
    case otherCard
    /// The directory shows this new device another account than the user's other device has, or the digits were mistyped.
    case otherAccount
    /// A step with guardians.
    case recovery(RecoveryClientError)
    /// A site.
    case sites(SitesError)
    /// The file of the keys to sites cannot be used.
    case siteKeys(SealedFileFault, path: String)

    // MARK: People and messages

    /// Nobody whom the user has added.
    case stranger(Handle)
    /// Somebody's devices or identity are not those that the user accepted: show the change, and ask.
    case changed(KeyChange)
    /// What the directory shows of somebody contradicts what it proved before.
    case contradicted(Handle, PeerContradiction)
    /// A message was not sealed, or what came is none for this device and use.
    case message(SealedMessageError)
    /// The notes.
    case notes(NotesError)

    /// What a folder holds instead.
    public enum TakenFolder: Hashable, Sendable {
        /// An account of this handle.
        case account(Handle)
        /// A device that was linked to the account of the same handle.
        case linkedDevice(Handle)
        /// The account, registered by another directory file.
        case anotherDirectory
        /// The account, registered and complete.
        case sameAccount(Handle)
        /// Keys of the account, begun with another place for a part of them, or without one.
        case keysElsewhere(Handle)
    }

    /// Whether the directory says that it knows nobody of that name: the handle is misspelt, or they have no account yet.
    public var isUnknownHandle: Bool {
        switch self {
        case .client(.refused(.notFound, _)), .client(.notRegistered): true
        default: false
        }
    }

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .noAccount, .isTaken, .profile, .address, .stranger, .changed, .quorumWeakened, .evidenceHeld,
            .weakPassphrase, .presence, .removedDevice, .otherCard, .otherAccount:
            .caller
        case .isBeingMade, .isBusy, .file: .environment
        case .directoryFile, .keystore, .memoryLost, .siteKeys: .caller
        case .recovery(let error): error.family
        case .sites(let error): error.family
        case .store(let error, _): error.family
        case .client(let error): error.family
        case .handleTaken, .handleTakenAndKept, .contradicted: .peer
        case .message(let error): error.isOfTheCaller ? .caller : .peer
        case .notes(let error): error.family
        }
    }
}

/// A change of somebody's devices or identity that waits for the user's word.
public struct KeyChange: Hashable, Sendable {
    /// Whose.
    public let handle: Handle
    /// What is other than the user accepted.
    public let change: PeerKeyChange
    /// Which change, so that ``Account/accept(_:)`` accepts the one that was shown and no other.
    let stateHash: [UInt8]

    init(_ verdict: LookupVerdict, _ change: PeerKeyChange) {
        (handle, self.change, stateHash) = (verdict.handle, change, verdict.stateHash)
    }
}

extension SealedMessageError {
    /// Whether the message was not sealed; else it came so.
    var isOfTheCaller: Bool {
        switch self {
        case .invalidContext, .tooLong, .invalidRecipients, .unusableKey, .signingFailed: true
        default: false
        }
    }
}
