// SPDX-License-Identifier: Apache-2.0

/// Encrypts the frames of one sender under one key, numbering them.
///
/// A reference type, so that a counter is never copied: using one number twice under one key would reveal the
/// plaintexts.
///
/// Spec: RFC 9605, section 4.4.3.
public final class FrameSealer {
    /// No key encrypts more frames.
    ///
    /// Spec: NIST SP 800-38D, section 8.3, for GCM with any nonce; far below the bounds for deterministic ones.
    public static let maximumFrameCount: UInt64 = 1 << 32

    /// Key, suite and key id.
    public let key: FrameKey
    /// The number that the next frame gets.
    public private(set) var nextCounter: UInt64

    /// A sealer whose first frame is number `firstCounter`.
    ///
    /// Security: to continue a key after a restart, the caller must know a number above every one used before. It is
    /// safer to derive a new key.
    public init(key: FrameKey, firstCounter: UInt64 = 0) {
        self.key = key
        nextCounter = firstCounter
    }

    /// Header, ciphertext and tag of the next frame.
    ///
    /// - Parameter metadata: authenticated with the frame and not part of it; the receiver must have the same bytes.
    /// - Throws: ``FrameSealError``. The number counts as used even then.
    public func seal(_ plaintext: ArraySlice<UInt8>, metadata: [UInt8] = []) throws(FrameSealError) -> [UInt8] {
        let counter = nextCounter
        guard counter < Self.maximumFrameCount else { throw .exhausted }
        nextCounter += 1
        var authenticated = FrameHeader(keyID: key.keyID, counter: counter).encoded
        var frame: [UInt8] = []
        frame.reserveCapacity(authenticated.count + plaintext.count + key.suite.tagByteCount)
        frame += authenticated
        if !metadata.isEmpty { authenticated += metadata }
        do {
            try key.cipher.seal(
                plaintext, nonce: key.nonce(counter), authenticating: authenticated, into: &frame)
        } catch { throw .cipher(error) }
        return frame
    }

    /// Header, ciphertext and tag of the next frame.
    ///
    /// - Throws: ``FrameSealError``. The number counts as used even then.
    public func seal(_ plaintext: [UInt8], metadata: [UInt8] = []) throws(FrameSealError) -> [UInt8] {
        try seal(plaintext[...], metadata: metadata)
    }
}

/// Why a frame could not be encrypted. Drop it; never send it in the clear.
public enum FrameSealError: Error, Hashable, Sendable {
    /// The key has encrypted all it may; a new one is due.
    case exhausted
    /// The back end failed: our bug.
    case cipher(FrameCipherError)
}
