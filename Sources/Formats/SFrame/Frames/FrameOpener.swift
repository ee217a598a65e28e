// SPDX-License-Identifier: Apache-2.0

/// Decrypts frames under the keys that were given to it, each frame once.
///
/// Spec: RFC 9605, section 4.4.4.
///
/// Security: a frame with an unknown key, a number seen before or too short a body is refused before any cipher runs.
/// A frame that does not authenticate changes nothing, however many of them come: no key is ever given up for it.
public struct FrameOpener: Sendable {
    private var receptions: [UInt64: Reception] = [:]

    private struct Reception: Sendable {
        let key: FrameKey
        var counters = FrameCounters()
    }

    /// An opener without keys.
    public init() {}

    /// The ids of the keys that it has.
    public var keyIDs: some Collection<UInt64> { receptions.keys }

    /// Adds a key; returns false, and leaves the old one and its window, if there is one with this id.
    @discardableResult
    public mutating func insert(_ key: FrameKey) -> Bool {
        guard receptions[key.keyID] == nil else { return false }
        receptions[key.keyID] = Reception(key: key)
        return true
    }

    /// Forgets a key.
    public mutating func remove(keyID: UInt64) { receptions[keyID] = nil }

    /// The plaintext of a frame.
    ///
    /// - Parameter metadata: the bytes that the sender authenticated with it.
    /// - Throws: ``FrameOpenError``. Of these only ``FrameOpenError/unknownKey(_:)`` is worth another try, with the key.
    public mutating func open(_ frame: [UInt8], metadata: [UInt8] = []) throws(FrameOpenError) -> OpenedFrame {
        let header = try Self.header(of: frame)
        guard let place = receptions.index(forKey: header.keyID) else { throw .unknownKey(header) }
        do { try receptions.values[place].counters.check(header.counter) } catch { throw .replay(header, error) }
        let key = receptions.values[place].key
        guard frame.count - header.byteCount >= key.suite.tagByteCount else { throw .tooShort(header) }
        let plaintext: [UInt8]
        do {
            plaintext = try key.cipher.open(
                frame[header.byteCount...], nonce: key.nonce(header.counter),
                authenticating: frame[..<header.byteCount] + metadata)
        } catch { throw .cipher(header, error) }
        receptions.values[place].counters.record(header.counter)
        return OpenedFrame(header: header, plaintext: plaintext)
    }

    private static func header(of frame: [UInt8]) throws(FrameOpenError) -> FrameHeader {
        do { return try FrameHeader(startOf: frame) } catch { throw .header(error) }
    }
}

/// A frame that was authentic and new.
///
/// Security: it came from a holder of the key with this id. Members who share a base key can derive each other's.
public struct OpenedFrame: Hashable, Sendable {
    /// Which key, which number.
    public let header: FrameHeader
    /// What was sent.
    public let plaintext: [UInt8]

    init(header: FrameHeader, plaintext: [UInt8]) {
        self.header = header
        self.plaintext = plaintext
    }
}

/// Why a frame was not opened.
public enum FrameOpenError: Error, Hashable, Sendable {
    /// It does not begin with a header.
    case header(FrameHeaderError)
    /// There is no such key, yet or any more.
    case unknownKey(FrameHeader)
    /// It was opened before, or may have been.
    case replay(FrameHeader, ReplayError)
    /// There is no room for a tag.
    case tooShort(FrameHeader)
    /// It does not authenticate under this key.
    case cipher(FrameHeader, FrameCipherError)
}
