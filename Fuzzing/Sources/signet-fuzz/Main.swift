// SPDX-License-Identifier: Apache-2.0

import CLibFuzzer

#if canImport(Glibc)
    import Glibc
#endif

/// `SIGNET_FUZZ=NAME signet-fuzz …`: one family of parsers under libFuzzer, whose own arguments follow. `seeds` prints
/// what to begin with, in hexadecimal. Without a name: the names.
@main enum Main {
    /// The parsers that get every input. Written once, before the first of them.
    nonisolated(unsafe) static var parsers: [Parser] = []

    static func main() {
        let name = getenv("SIGNET_FUZZ").map { String(cString: $0) }
        if name == "seeds" {
            for seed in needed({ try seeds() }) {
                print(seed.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
            }
            return
        }
        guard let name, let family = families[name] else {
            for name in families.keys.sorted() { print(name) }
            exit(name == nil ? 0 : 2)
        }
        parsers = family()
        atexit { Main.report() }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { start, count in
                let bytes = Array(UnsafeBufferPointer(start: start, count: count))
                for index in Main.parsers.indices where Main.parsers[index].takes(bytes) && !bytes.isEmpty {
                    Main.parsers[index].taken += 1
                }
                return 0
            })
    }

    /// How often each parser took an input that was not empty: libFuzzer itself begins with the empty one. A parser that never
    /// did was fuzzed up to its first checks alone.
    static func report() {
        for parser in parsers { print("taken \(parser.taken) \(parser.name)") }
    }
}
