// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import CanonicalCoding
public import Crypto

// swift-crypto's HPKE speaks `Data`.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SignalDraft {
    /// Wraps the secrets for their recipients and signs.
    ///
    /// - Parameters:
    ///   - agreementKey: the P-256 key of a device, from a verified lookup; nil if there is none. That device gets no
    ///     wrap, and asks.
    ///   - checkpoint: what ``CallSignalling/Signal/Content/checkpoint`` is to be, if the signal is one that carries it.
    ///   - sign: gives the 64-byte Ed25519 signature of `device` over the bytes passed.
    /// - Throws: what `sign` throws.
    public func signed<E: Error>(
        by device: CallDevice, in callID: CallID, checkpoint: [UInt8] = [],
        agreementKey: (CallDevice) -> P256.KeyAgreement.PublicKey?,
        sign: ([UInt8]) throws(E) -> [UInt8]
    ) throws(E) -> Signal {
        let wraps = keys.compactMap { key in
            agreementKey(key.recipient).flatMap {
                WrapScope(callID, from: device, to: key.recipient, key.epoch, body.wrapNonce).wrap(key.secret, to: $0)
            }
        }
        let content = Signal.Content(
            callID: callID, sender: device, recipient: recipient, term: term, sequence: sequence, sentAt: sentAt,
            checkpoint: body.carriesCheckpoint ? checkpoint : [], body: body.with(wraps: wraps))
        return try Signal(signing: content, with: sign)
    }
}

extension OpenedSignal {
    /// Opens what is wrapped for this device. A wrap that does not open is as good as none: the device asks.
    ///
    /// Only ``WrapForm/hpkeP256`` is opened: no peer can make this device use an older form.
    public init(_ signal: VerifiedSignal, for device: CallDevice, with key: P256.KeyAgreement.PrivateKey) {
        let content = signal.content
        let keys = content.body.wraps.filter { $0.recipient == device }.compactMap { wrap in
            WrapScope(content.callID, from: content.sender, to: device, wrap.epoch, content.body.wrapNonce)
                .open(wrap, with: key)
                .map { OfferedKey(recipient: device, epoch: wrap.epoch, secret: $0) }
        }
        self.init(sender: content.sender, sequence: content.sequence, body: content.body, keys: keys)
    }
}

extension SignalBody {
    /// A device that asks to come in, admits another device, or makes keys for all members states which log it sees.
    fileprivate var carriesCheckpoint: Bool {
        switch self {
        case .join, .reunite, .reply, .rotation: true
        case .leave, .roster, .ack, .commit, .request, .heartbeat, .yield, .ring, .ringAnswer, .ringEnd, .digest: false
        }
    }

    fileprivate var wraps: [KeyWrap] {
        switch self {
        case .rotation(let rotation): rotation.wraps
        case .reply(let reply): reply.wraps
        default: []
        }
    }

    fileprivate func with(wraps: [KeyWrap]) -> SignalBody {
        switch self {
        case .rotation(let rotation): .rotation(rotation.with(wraps: wraps))
        case .reply(let reply): .reply(reply.with(wraps: wraps))
        default: self
        }
    }

    /// What only the recipient could have chosen; zeros in a broadcast, whose freshness is its epoch.
    fileprivate var wrapNonce: [UInt8] {
        if case .reply(let reply) = self { reply.id.bytes } else { [UInt8](repeating: 0, count: 16) }
    }
}

/// What a wrap is good for, and nothing else: call, sender, recipient, epoch and request are bound into it.
///
/// Spec: RFC 9180 in base mode, DHKEM(P-256, HKDF-SHA256) with AES-256-GCM. Wire form: 65-byte encapsulation, 48 bytes.
struct WrapScope {
    private let context: [UInt8]

    init(_ callID: CallID, from sender: CallDevice, to recipient: CallDevice, _ epoch: Epoch, _ nonce: [UInt8]) {
        var writer = ByteWriter()
        writer.write("signet-call-wrap/v1")
        writer.write(callID.bytes)
        writer.write(sender.signingKey)
        writer.write(recipient.signingKey)
        writer.write(epoch.term)
        writer.write(epoch.generation)
        writer.write(epoch.step)
        writer.write(nonce)
        context = writer.bytes
        self.recipient = recipient
        self.epoch = epoch
    }

    private let recipient: CallDevice
    private let epoch: Epoch

    func wrap(_ secret: GroupSecret, to key: P256.KeyAgreement.PublicKey) -> KeyWrap? {
        secret.key.withUnsafeBytes { DeviceBox.seal(Array($0), info: context, to: key) }
            .map { KeyWrap(recipient: recipient, epoch: epoch, form: .hpkeP256, bytes: $0) }
    }

    func open(_ wrap: KeyWrap, with key: P256.KeyAgreement.PrivateKey) -> GroupSecret? {
        guard wrap.form == .hpkeP256 else { return nil }
        return DeviceBox.open(wrap.bytes, info: context, with: key).flatMap { GroupSecret(SymmetricKey(data: $0)) }
    }
}

/// Bytes that only the owner of a P-256 key opens: 65-byte encapsulation, then as many bytes and 16 more.
///
/// Spec: RFC 9180 in base mode, DHKEM(P-256, HKDF-SHA256) with AES-256-GCM.
enum DeviceBox {
    private static let encapsulationByteCount = 65
    static let overhead = encapsulationByteCount + 16

    static func seal(_ bytes: [UInt8], info: [UInt8], to key: P256.KeyAgreement.PublicKey) -> [UInt8]? {
        guard
            var sender = try? HPKE.Sender(
                recipientKey: key, ciphersuite: .P256_SHA256_AES_GCM_256, info: Data(info)),
            let sealed = try? sender.seal(bytes)
        else { return nil }
        return Array(sender.encapsulatedKey) + Array(sealed)
    }

    static func open(_ box: [UInt8], info: [UInt8], with key: P256.KeyAgreement.PrivateKey) -> [UInt8]? {
        guard box.count > encapsulationByteCount,
            var recipient = try? HPKE.Recipient(
                privateKey: key, ciphersuite: .P256_SHA256_AES_GCM_256, info: Data(info),
                encapsulatedKey: Data(box[..<encapsulationByteCount])),
            let bytes = try? recipient.open(box[encapsulationByteCount...])
        else { return nil }
        return Array(bytes)
    }
}
