// SPDX-License-Identifier: Apache-2.0

import Crypto
import Measuring
import SecureCell

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The real Themis, loaded from where `SIGNET_THEMIS` says that its library is: Secure Cell in Seal mode as it does it, for a caller
/// who has the memory for the result already.
struct ThemisPeer {
    private typealias Call =
        @convention(c) (
            UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int,
            UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?
        ) -> Int32

    private let sealing, opening: Call

    /// Nil, and a line that says so, where no library is named or none can be loaded.
    static func load() -> ThemisPeer? {
        guard let path = getenv("SIGNET_THEMIS").map({ String(cString: $0) }) else {
            Report.note("Themis: not measured; SIGNET_THEMIS=/path/to/libthemis.so names its library")
            return nil
        }
        // Themis needs its other library, which the loader does not look for beside it.
        dlopen(path.replacing("libthemis", with: "libsoter"), RTLD_NOW | RTLD_GLOBAL)
        guard let library = dlopen(path, RTLD_NOW),
            let seal = dlsym(library, "themis_secure_cell_encrypt_seal"),
            let open = dlsym(library, "themis_secure_cell_decrypt_seal")
        else {
            Report.note("Themis: not measured; \(path): \(dlerror().map { String(cString: $0) } ?? "cannot be loaded")")
            return nil
        }
        return ThemisPeer(sealing: unsafeBitCast(seal, to: Call.self), opening: unsafeBitCast(open, to: Call.self))
    }

    private func run(
        _ call: Call, _ key: [UInt8], _ context: [UInt8], _ input: [UInt8], into output: inout [UInt8]
    ) throws -> Int {
        var count = output.count
        let status = call(key, key.count, context, context.count, input, input.count, &output, &count)
        guard status == 0 else { throw BenchFault.peerFailed(status: status) }
        return count
    }

    /// Both seal and open notes of this size, in turn.
    func report(_ byteCount: Int) throws {
        let plaintext = [UInt8](repeating: 1, count: byteCount)
        let (keyBytes, context) = ([UInt8](repeating: 9, count: 32), [UInt8](repeating: 7, count: 120))
        let key = SymmetricKey(data: keyBytes)
        var memory = [UInt8](repeating: 0, count: byteCount + Seal.overhead)
        let cell = try Seal.seal(plaintext, key: key, context: context)
        let count = try run(sealing, keyBytes, context, plaintext, into: &memory)
        guard try Seal.open(Array(memory.prefix(count)), key: key, context: context) == plaintext else {
            throw BenchFault.peerDiffers
        }
        let timings = try interleaved(
            rounds: 100, repetitions: byteCount > 10_000 ? 200 : 1000,
            [
                Candidate("Themis seals") { keep(try run(sealing, keyBytes, context, plaintext, into: &memory)) },
                Candidate("Signet seals") { keep(try Seal.seal(plaintext, key: key, context: context)) },
                Candidate("Themis opens") { keep(try run(opening, keyBytes, context, cell, into: &memory)) },
                Candidate("Signet opens") { keep(try Seal.open(cell, key: key, context: context)) },
            ])
        Report.title("Notes of \(byteCount) bytes beside Themis")
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
        }
        Report.goal("sealing ÷ Themis, median of rounds", timings.median { $0[1] / $0[0] }, atMost: 0.9, isPeer: true)
        Report.goal("opening ÷ Themis, median of rounds", timings.median { $0[3] / $0[2] }, atMost: 0.9, isPeer: true)
    }
}
