// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
import CanonicalCoding
public import Crypto

/// What goes from one device to another beside the signals, as a datagram through the relay of frames.
///
/// Wire form before it is sealed: u8 kind (1: a signal; 2: a key), for a key the 32 bytes of the secret, then the signal's wire form. A
/// signal is a leave, a roster, an ack or a digest. A key is the secret of a rotation, whose signal names no recipient and has no wraps:
/// a member that passes it on adds nothing that the host did not sign, because the secret has to fit the commitment.
///
/// Sealed: 65-byte encapsulation, then the bytes above, encrypted, and 16 more.
///
/// Spec: RFC 9180 in base mode, DHKEM(P-256, HKDF-SHA256) with AES-256-GCM; info "signet-call-packet/v1" ‖ call ‖ recipient.
public enum KeyPacket: Sendable {
    /// 1. A signal, as its sender signed it.
    case signal(Signal)
    /// 2. The secret of a rotation, and the rotation as its host signed it.
    case key(GroupSecret, announcement: Signal)

    /// No packet is longer when it is sealed, in bytes: as a frame.
    public static let maximumByteCount = RelayPacket.maximumFrameByteCount

    /// Seals the packet for a device.
    ///
    /// - Parameter key: the device's P-256 key, from a verified lookup.
    /// - Returns: nil if it is longer than a datagram may be; the signals carry the same.
    public func sealed(for recipient: CallDevice, in callID: CallID, to key: P256.KeyAgreement.PublicKey) -> [UInt8]? {
        let bytes = encoded
        guard bytes.count + DeviceBox.overhead <= Self.maximumByteCount else { return nil }
        return DeviceBox.seal(bytes, info: Self.info(recipient, callID), to: key)
    }

    /// Opens a packet for this device, and verifies it.
    ///
    /// - Throws: ``KeyPacketError``. A retry cannot help; the signals bring the same.
    public static func open(
        _ bytes: [UInt8], for device: CallDevice, in callID: CallID, with key: P256.KeyAgreement.PrivateKey
    ) throws(KeyPacketError) -> OpenedPacket {
        let counts = DeviceBox.overhead + 1...maximumByteCount
        guard counts.contains(bytes.count) else { throw .wrongLength(bytes.count) }
        guard let content = DeviceBox.open(bytes, info: info(device, callID), with: key) else {
            throw .notSealedForThis
        }
        return try verify(content, for: device, in: callID)
    }

    var encoded: [UInt8] {
        switch self {
        case .signal(let signal): [1] + signal.encoded
        case .key(let secret, let announcement): [2] + secret.key.withUnsafeBytes { Array($0) } + announcement.encoded
        }
    }

    static func verify(
        _ bytes: [UInt8], for device: CallDevice, in callID: CallID
    ) throws(KeyPacketError) -> OpenedPacket {
        switch bytes.first {
        case 1:
            let signal = try signal(bytes[1...], for: device, in: callID)
            guard signal.content.body.isForPackets else { throw .notForPackets }
            let content = signal.content
            return .signal(
                OpenedSignal(sender: content.sender, sequence: content.sequence, body: content.body, keys: []))
        case 2:
            let signal = try signal(bytes.dropFirst(33), for: device, in: callID)
            // trap: a signal behind them was read, so the 32 bytes are there
            guard let secret = GroupSecret(SymmetricKey(data: bytes[1..<33])) else { throw .notForPackets }
            return .key(try AnnouncedKey(signal, secret, for: device))
        default: throw .unknownKind
        }
    }

    private static func signal(
        _ bytes: ArraySlice<UInt8>, for device: CallDevice, in callID: CallID
    ) throws(KeyPacketError) -> Signal {
        let signal: Signal
        do { signal = try Signal(decoding: Array(bytes)) } catch { throw .signal(error) }
        do { _ = try signal.verify(for: device, in: callID) } catch { throw .verification(error) }
        return signal
    }

    private static func info(_ recipient: CallDevice, _ callID: CallID) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("signet-call-packet/v1")
        writer.write(callID.bytes)
        writer.write(recipient.signingKey)
        return writer.bytes
    }
}

/// Why a packet is refused. The peer misbehaved, or the network damaged it; a retry cannot help.
public enum KeyPacketError: Error, Hashable, Sendable {
    /// Shorter or longer than any packet, in bytes.
    case wrongLength(Int)
    /// Sealed for another device or another call, or damaged.
    case notSealedForThis
    /// An undefined kind of packet.
    case unknownKind
    /// What is in it is not a signal.
    case signal(SignalDecodingError)
    /// The signal is of another call, for another device, or not signed by whom it names.
    case verification(SignalVerificationError)
    /// A signal that goes with the others alone: its place among them matters, or it is too large.
    case notForPackets
    /// A rotation that has a recipient or wraps, is not by the host that its roster names, leaves this device out, or does not
    /// commit to the secret.
    case notAnnounced
}

/// A packet whose signal was signed by whom it names.
public enum OpenedPacket: Sendable {
    /// What a device says.
    case signal(OpenedSignal)
    /// A secret that a host committed to.
    case key(AnnouncedKey)

    /// Whose signature it carries.
    public var sender: CallDevice {
        switch self {
        case .signal(let signal): signal.sender
        case .key(let key): key.announcement.content.sender
        }
    }
}

/// A rotation as its host signed it for all members, and the secret that it commits to.
///
/// Security: it does not matter who passed it on.
public struct AnnouncedKey: Sendable {
    let announcement: Signal
    let rotation: KeyRotation
    let secret: GroupSecret

    package init(_ announcement: Signal, _ secret: GroupSecret, for device: CallDevice) throws(KeyPacketError) {
        let content = announcement.content
        guard case .rotation(let rotation) = content.body else { throw .notForPackets }
        let scope = CallScope(
            callID: content.callID, term: rotation.epoch.term, generation: rotation.epoch.generation)
        guard content.recipient == nil, rotation.wraps.isEmpty, rotation.roster.host == content.sender,
            rotation.roster.callID == content.callID, rotation.roster.contains(device)
        else { throw .notAnnounced }
        guard secret.commitment(in: scope) == rotation.commitment else { throw .notAnnounced }
        (self.announcement, self.rotation, self.secret) = (announcement, rotation, secret)
    }
}

extension SignalBody {
    /// Whether a signal may come out of order: each of these says by itself what it follows.
    var isForPackets: Bool {
        switch self {
        case .leave, .roster, .ack, .digest: true
        case .join, .reunite, .rotation, .commit, .request, .reply, .heartbeat, .yield, .ring, .ringAnswer, .ringEnd:
            false
        }
    }
}

/// A packet to sign, seal and send beside the signals.
public struct PacketDraft: Sendable {
    /// For whom: for each sealed apart, for all signed once.
    public let recipients: [CallDevice]
    let content: Content

    /// A digest goes to so many at once.
    static let digestCount = 32

    enum Content {
        case signal(SignalDraft)
        case ownKey(GroupSecret, announcement: SignalDraft)
        case passedOn(AnnouncedKey)
    }

    init(recipients: [CallDevice], content: Content) { (self.recipients, self.content) = (recipients, content) }

    init(recipient: CallDevice, content: Content) { self.init(recipients: [recipient], content: content) }

    /// Whether it holds a secret.
    package var isKey: Bool { if case .signal = content { false } else { true } }

    /// The packet, signed.
    ///
    /// - Parameter sign: gives the 64-byte Ed25519 signature of `device` over the bytes passed.
    /// - Throws: what `sign` throws.
    public func packet<E: Error>(
        by device: CallDevice, in callID: CallID, sign: ([UInt8]) throws(E) -> [UInt8]
    ) throws(E) -> KeyPacket {
        switch content {
        case .signal(let draft):
            .signal(try draft.signed(by: device, in: callID, agreementKey: { _ in nil }, sign: sign))
        case .ownKey(let secret, let draft):
            .key(
                secret,
                announcement: try draft.signed(by: device, in: callID, agreementKey: { _ in nil }, sign: sign))
        case .passedOn(let key): .key(key.secret, announcement: key.announcement)
        }
    }
}

extension PacketDraft {
    /// What a recipient opens, in a call on paper: nothing is signed or sealed.
    package func opened(by recipient: CallDevice, sentBy device: CallDevice, in callID: CallID) -> OpenedPacket? {
        switch content {
        case .signal(let draft):
            return .signal(OpenedSignal(sender: device, sequence: draft.sequence, body: draft.body, keys: []))
        case .ownKey(let secret, let draft):
            let unsigned = draft.signed(by: device, in: callID, agreementKey: { _ in nil }, sign: { _ in [] })
            return (try? AnnouncedKey(unsigned, secret, for: recipient)).map { .key($0) }
        case .passedOn(let key): return .key(key)
        }
    }
}
