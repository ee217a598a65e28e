import Crypto
import SignetAPI
import Synchronization

/// Remembers the nonces of signed requests for as long as the requests would still pass the check of time.
///
/// Two generations, each as long as a request can stay in time; the older one is forgotten as a whole. When a
/// generation is full, requests are refused rather than nonces forgotten.
///
/// The window is in memory and empty after a start. Every signed request therefore has to be idempotent: one that is
/// replayed after a restart changes nothing that it did not change before.
final class NonceWindow: Sendable {
    private struct Key: Hashable {
        let high: UInt64
        let low: UInt64
    }

    private struct Generations {
        var start: UInt64
        var present: Set<Key> = []
        var past: Set<Key> = []
    }

    enum Outcome {
        case new
        case replayed
        case full
    }

    /// A request signed as far ahead as allowed stays in time this long, in seconds.
    static let lifetime = 2 * RequestSignature.maximumClockDifference + 1

    private let capacity: Int
    private let generations: Mutex<Generations>

    /// A window of at most twice `capacity` nonces of about 16 bytes.
    init(capacity: Int, at now: UInt64) {
        self.capacity = capacity
        generations = Mutex(Generations(start: now))
    }

    /// Takes a request's nonce, once for each device key.
    func take(_ signature: RequestSignature, at now: UInt64) -> Outcome {
        let key = Self.key(of: signature)
        return generations.withLock { generations in
            Self.turn(&generations, at: now)
            guard !generations.present.contains(key), !generations.past.contains(key) else { return .replayed }
            guard generations.present.count < capacity else { return .full }
            generations.present.insert(key)
            return .new
        }
    }

    /// How many nonces are remembered.
    var count: Int { generations.withLock { $0.present.count + $0.past.count } }

    /// A clock that goes back keeps everything.
    private static func turn(_ generations: inout Generations, at now: UInt64) {
        guard now >= generations.start, now - generations.start >= lifetime else { return }
        let isLongAgo = now - generations.start >= 2 * lifetime
        generations.past = isLongAgo ? [] : generations.present
        generations.present = []
        generations.start = now
    }

    private static func key(of signature: RequestSignature) -> Key {
        SHA256.hash(data: signature.deviceKey + signature.nonce).withUnsafeBytes {
            Key(high: $0.loadUnaligned(as: UInt64.self), low: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }
}
