import Crypto
import Foundation
import SFrame
import Testing

private let isMeasuring = ProcessInfo.processInfo.environment["SIGNET_MEASURE"] != nil

/// What a frame costs beside the bare cipher, printed. Run with `-c release` and `SIGNET_MEASURE=1`.
@Suite(.enabled(if: isMeasuring, "set SIGNET_MEASURE"))
struct MeasurementTests {
    /// The best of 15 rounds: nanoseconds of processor time for one call.
    private func cost(_ work: () throws -> Void) rethrows -> Double {
        var best = Double.infinity
        for _ in 0..<15 {
            let start = clock()
            for _ in 0..<20_000 { try work() }
            best = min(best, Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1e9 / 20_000)
        }
        return best
    }

    @Test(arguments: [96, 1024])
    func frames(_ length: Int) throws {
        let secret = SymmetricKey(size: .bits128)
        let plaintext = [UInt8](repeating: 1, count: length)
        let header: [UInt8] = [0x99, 1, 2, 3, 4]
        let bare = try cost {
            _ = try AES.GCM.seal(plaintext, using: secret, nonce: AES.GCM.Nonce(), authenticating: header)
        }
        let key = try FrameKey(baseKey: secret, keyID: 300, suite: .aes128GCM)
        let sealer = FrameSealer(key: key, firstCounter: 1000)
        let seal = try cost { _ = try sealer.seal(plaintext) }
        let frames = try (0..<300_001).map { _ in try sealer.seal(plaintext) }
        var opener = FrameOpener()
        opener.insert(key)
        var next = 0
        let open = try cost {
            _ = try opener.open(frames[next])
            next += 1
        }
        let replay = cost { _ = try? opener.open(frames[next - 1]) }
        var empty = FrameOpener()
        let unknown = cost { _ = try? empty.open(frames[0]) }
        print(
            String(
                format:
                    "%d B: bare %.0f ns, seal %.0f ns (%.2f), open %.0f ns, replay %.0f ns (%.3f), unknown %.0f ns (%.3f)",
                length, bare, seal, seal / bare, open, replay, replay / open, unknown, unknown / open))
    }
}
