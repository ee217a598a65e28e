import Crypto
import Measuring
import SFrame

/// What a frame of a call costs beside the bare cipher, and what a frame costs that is refused.
@main struct FrameBench {
    static func main() throws {
        for length in [96, 1024] { try FrameCost(length).report(length) }
    }
}

/// The same frames through SFrame and through swift-crypto's AES-GCM alone.
final class FrameCost {
    private let secret = SymmetricKey(data: [UInt8](repeating: 7, count: 16))
    private let plaintext: [UInt8]
    private let header: [UInt8] = [0x99, 1, 2, 3, 4]
    private let nonce = [UInt8](repeating: 9, count: 12)
    private let sealer: FrameSealer
    private let opener: FrameOpener
    private var replayed: FrameOpener
    private let unknown = FrameOpener()
    private let frame: [UInt8]

    init(_ length: Int) throws {
        plaintext = [UInt8](repeating: 1, count: length)
        let key = try FrameKey(baseKey: secret, keyID: 300, suite: .aes128GCM)
        sealer = FrameSealer(key: key, firstCounter: 1000)
        frame = try sealer.seal(plaintext)
        var opener = FrameOpener()
        opener.insert(key)
        self.opener = opener
        replayed = opener
        _ = try replayed.open(frame)
    }

    func report(_ length: Int) throws {
        Report.title("Frames of \(length) bytes, AES-128-GCM")
        let timings = try interleaved(
            rounds: 100, repetitions: 2000,
            [
                Candidate("bare AES.GCM.seal", bare), Candidate("seal", seal), Candidate("open", open),
                Candidate("refuse a replay", refuseReplay), Candidate("refuse an unknown key", refuseUnknown),
            ])
        for place in timings.names.indices {
            Report.line("\(timings.names[place]), fastest round", timings.fastest(place), "ns")
        }
        Report.goal("seal ÷ bare, median of rounds", timings.median { $0[1] / $0[0] }, atMost: 1.15)
        Report.goal("replay ÷ open, median of rounds", timings.median { $0[3] / $0[2] }, atMost: 0.1)
        Report.goal("unknown key ÷ open, median of rounds", timings.median { $0[4] / $0[2] }, atMost: 0.1)
    }

    private func bare() throws {
        let box = try AES.GCM.seal(
            plaintext, using: secret, nonce: AES.GCM.Nonce(data: nonce), authenticating: header)
        keep(box)
    }

    private func seal() throws { keep(try sealer.seal(plaintext)) }

    /// On a copy, so that the frame is new every time; copying the window is part of the cost.
    private func open() throws {
        var opener = opener
        keep(try opener.open(frame))
    }

    private func refuseReplay() throws {
        do throws(FrameOpenError) { keep(try replayed.open(frame)) } catch { keep(error) }
    }

    private func refuseUnknown() throws {
        var opener = unknown
        do throws(FrameOpenError) { keep(try opener.open(frame)) } catch { keep(error) }
    }
}
