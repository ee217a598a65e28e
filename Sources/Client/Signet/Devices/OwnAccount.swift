// SPDX-License-Identifier: Apache-2.0

public import Foundation
import KeyTransparency
public import SignetClient

/// The user's own account, as the log proves it.
public struct OwnAccount: Sendable {
    /// The account's devices, in rising order of number.
    public let devices: [OwnDevice]
    /// How many times the account was changed.
    public let version: UInt64
    /// How the account compares with what this device has accepted.
    public let outcome: TrustOutcome
    /// Whether guardians can give the user the identity back after every device was lost.
    public let hasGuardians: Bool
    /// Whether someone asks guardians for the user's identity, and any device of the account can still stop it.
    public let isBeingRecovered: Bool
    /// What is wrong with the account, to be shown before anything else: it is not in the state in which this device left it.
    /// Nil if nothing is wrong.
    public let alarm: SignetError?

    /// - Parameter key: this device's Ed25519 key.
    init(_ verdict: LookupVerdict, on key: [UInt8]) {
        devices = verdict.lookup.state.devices.map { OwnDevice($0, isThisDevice: $0.keys.signing == key) }
        (version, outcome) = (verdict.version, verdict.outcome)
        hasGuardians = verdict.lookup.state.recoveryCommitment != nil
        isBeingRecovered = verdict.lookup.state.pendingRecovery != nil
        alarm =
            switch verdict.outcome {
            case .matched, .firstPinned, .accepted: nil
            case .changed(let change) where change.removed.contains { $0.signingKey == key }: .removedDevice
            case .changed(let change): .client(.ownAccountChanged(change))
            case .contradicted(let contradiction): .contradicted(verdict.handle, contradiction)
            case .stranger: .client(.misuse(.deviceNotAddedYet))
            }
    }
}

/// A device of the user's own account.
public struct OwnDevice: Hashable, Sendable {
    /// Its number in the account, used to remove it. The number is never given to another device.
    public let number: UInt16
    /// When it was added, by the clock of the device that added it.
    public let addedAt: Date
    /// Whether it is the device on which this runs.
    public let isThisDevice: Bool
    /// Its Ed25519 key, 32 bytes.
    public let signingKey: [UInt8]

    init(_ record: DeviceRecord, isThisDevice: Bool) {
        number = record.number
        addedAt = Date(timeIntervalSince1970: TimeInterval(record.addedAt))
        self.isThisDevice = isThisDevice
        signingKey = record.keys.signing
    }
}

extension OpenHome {
    /// Looks the user's own account up. A change of the directory's keys is followed during the lookup.
    ///
    /// - Returns: the account, and the home that is now in force.
    /// - Throws: ``SignetError``.
    public func ownAccount() async throws(SignetError) -> (account: OwnAccount, home: OpenHome) {
        guard let keystore else { throw .noAccount(folder: folder.path) }
        let (verdict, home) = try await run { client throws(ClientError) in
            try await client.lookup(keystore.handle).verdict
        }
        return (OwnAccount(verdict, on: keystore.keys.signing), home)
    }
}
