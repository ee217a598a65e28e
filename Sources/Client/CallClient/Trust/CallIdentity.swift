// SPDX-License-Identifier: Apache-2.0

import CallKeys
public import CallSignalling
import Crypto
import KeyTransparency
public import SignetClient

/// This device, as it takes part in calls.
public struct CallIdentity: Sendable {
    /// Its Ed25519 key.
    public let device: CallDevice
    private let secrets: DeviceSecrets

    /// The device of these keys; nil is a bug.
    public init?(_ secrets: DeviceSecrets) {
        guard let device = CallDevice(secrets.keys.signing) else { return nil }
        self.device = device
        self.secrets = secrets
    }

    func sign(_ bytes: [UInt8]) throws(KeystoreError) -> [UInt8] { try secrets.sign(bytes) }

    func open(_ signal: VerifiedSignal) -> OpenedSignal? {
        try? secrets.withAgreementKeys { key, _ in OpenedSignal(signal, for: device, with: key) }
    }

    func open(_ packet: [UInt8], in callID: CallID) -> OpenedPacket? {
        try? secrets.withAgreementKeys { key, _ in try? KeyPacket.open(packet, for: device, in: callID, with: key) }
    }
}
