// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import SFrame

/// Which SFrame suite each context uses, and which back end.
///
/// Security: a suite with a tag of 4 bytes is replaced by one of 10.
public struct CallSuites: Sendable {
    private let audio: CipherSuite
    private let others: CipherSuite
    private let makeCipher: @Sendable (SymmetricKey, CipherSuite) throws(FrameCipherError) -> any FrameCipher

    /// Suites for audio and for everything else; a back end over swift-crypto unless told.
    public init(
        audio: CipherSuite = .aes128CTRTag80, others: CipherSuite = .aes128GCM,
        makeCipher: @escaping @Sendable (SymmetricKey, CipherSuite) throws(FrameCipherError) -> any FrameCipher = {
            key, suite throws(FrameCipherError) in try suite.makeCipher(key: key)
        }
    ) {
        self.audio = audio.isTagShort ? .aes128CTRTag80 : audio
        self.others = others.isTagShort ? .aes128GCM : others
        self.makeCipher = makeCipher
    }

    func frameKey(_ mediaKey: SymmetricKey, _ keyID: CallKeyID) -> FrameKey? {
        let suite = keyID.context == .audio ? audio : others
        return try? FrameKey(baseKey: mediaKey, keyID: keyID.rawValue, suite: suite) { key throws(FrameCipherError) in
            try makeCipher(key, suite)
        }
    }
}
