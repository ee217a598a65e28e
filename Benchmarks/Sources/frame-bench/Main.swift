// SPDX-License-Identifier: Apache-2.0

import CKeyedGCM
import Crypto
import Measuring
import SFrame
import SFrameOpenSSL

/// What a frame of a call costs beside the bare cipher, and what a frame costs that is refused.
@main struct FrameBench {
    static func main() throws {
        for length in [96, 1024] { try FrameCost(length).report(length) }
    }
}

/// The same frames through SFrame with each of its back ends, through swift-crypto's AES-GCM alone, and through OpenSSL
/// with its key set once.
final class FrameCost {
    private let secret = SymmetricKey(data: [UInt8](repeating: 7, count: 16))
    private let plaintext: [UInt8]
    private let header: [UInt8] = [0x99, 1, 2, 3, 4]
    private let nonce = [UInt8](repeating: 9, count: 12)
    private let context: UnsafeMutableRawPointer
    private var output: [UInt8]
    private let openSSL: Ends
    private let reference: Ends

    /// One sender and what its frames meet.
    private final class Ends {
        let sealer: FrameSealer
        let opener: FrameOpener
        var replayed: FrameOpener
        let frame: [UInt8]

        init(_ key: FrameKey, _ plaintext: [UInt8]) throws {
            sealer = FrameSealer(key: key, firstCounter: 1000)
            frame = try sealer.seal(plaintext)
            var opener = FrameOpener()
            opener.insert(key)
            self.opener = opener
            replayed = opener
            _ = try replayed.open(frame)
        }

        func seal(_ plaintext: [UInt8]) throws { keep(try sealer.seal(plaintext)) }

        /// On a copy, so that the frame is new every time; copying the window is part of the cost.
        func open() throws {
            var opener = opener
            keep(try opener.open(frame))
        }

        func refuseReplay() throws {
            do throws(FrameOpenError) { keep(try replayed.open(frame)) } catch { keep(error) }
        }

        func refuseUnknown() throws {
            var opener = FrameOpener()
            do throws(FrameOpenError) { keep(try opener.open(frame)) } catch { keep(error) }
        }
    }

    init(_ length: Int) throws {
        plaintext = [UInt8](repeating: 1, count: length)
        output = [UInt8](repeating: 0, count: length + 16)
        let suite = CipherSuite.aes128GCM
        reference = try Ends(try FrameKey(baseKey: secret, keyID: 300, suite: suite), plaintext)
        openSSL = try Ends(
            try FrameKey(baseKey: secret, keyID: 300, suite: suite, makeCipher: suite.makeOpenSSLCipher), plaintext)
        guard let context = keyed_gcm_new([UInt8](repeating: 7, count: 16)) else { throw FrameCipherError.unavailable }
        self.context = context
    }

    func report(_ length: Int) throws {
        Report.title("Frames of \(length) bytes, AES-128-GCM")
        let timings = try interleaved(
            rounds: 100, repetitions: 2000,
            [
                Candidate("swift-crypto alone", bare),
                Candidate("seal over swift-crypto") { [self] in try reference.seal(plaintext) },
                Candidate("open over swift-crypto", reference.open), Candidate("OpenSSL alone, key set once", keyed),
                Candidate("seal", { [self] in try openSSL.seal(plaintext) }), Candidate("open", openSSL.open),
                Candidate("refuse a replay", openSSL.refuseReplay),
                Candidate("refuse an unknown key", openSSL.refuseUnknown),
            ])
        for place in timings.names.indices {
            Report.line("\(timings.names[place]), fastest round", timings.fastest(place), "ns")
        }
        Report.goal(
            "seal ÷ OpenSSL alone, median of rounds", timings.median { $0[4] / $0[3] }, atMost: 1.3, isPeer: true)
        Report.goal(
            "seal ÷ swift-crypto alone, median of rounds", timings.median { $0[4] / $0[0] }, atMost: 1.15, isPeer: true)
        Report.goal("replay ÷ open, median of rounds", timings.median { $0[6] / $0[5] }, atMost: 0.1)
        Report.goal("unknown key ÷ open, median of rounds", timings.median { $0[7] / $0[5] }, atMost: 0.1)
    }

    private func bare() throws {
        let box = try AES.GCM.seal(
            plaintext, using: secret, nonce: AES.GCM.Nonce(data: nonce), authenticating: header)
        keep(box)
    }

    private func keyed() throws {
        guard keyed_gcm_seal(context, nonce, header, header.count, plaintext, plaintext.count, &output) == 1 else {
            throw FrameCipherError.unavailable
        }
        keep(output)
    }
}
