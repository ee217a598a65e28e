// SPDX-License-Identifier: Apache-2.0

/// Something that reads bytes of strangers.
struct Parser {
    /// What it reads, in a report.
    let name: String
    /// How many inputs it took.
    var taken = 0
    private let run: ([UInt8]) -> Bool

    /// A parser of which nothing is asked but that it comes back.
    init(_ name: String, run: @escaping ([UInt8]) -> Bool) {
        self.name = name
        self.run = run
    }

    func takes(_ bytes: [UInt8]) -> Bool { run(bytes) }

    /// A form in which each value has one spelling: what is read is written as the same bytes.
    static func canonical<Value>(
        _ name: String, _ decode: @escaping ([UInt8]) throws -> Value?, _ encode: @escaping (Value) throws -> [UInt8]
    ) -> Parser {
        Parser(name) { bytes in
            guard let value = try? decode(bytes) else { return false }
            demand(try? encode(value), equals: bytes, "\(name): what was read is not written as it was read")
            return true
        }
    }

    /// A form with more than one spelling: what is written of a value is read again, and written the same.
    static func settled<Value>(
        _ name: String, _ decode: @escaping ([UInt8]) throws -> Value?, _ encode: @escaping (Value) throws -> [UInt8]
    ) -> Parser {
        Parser(name) { bytes in
            guard let value = try? decode(bytes) else { return false }
            guard let written = try? encode(value) else { return true }
            let again = (try? decode(written)).flatMap { try? encode($0) }
            demand(again, equals: written, "\(name): what was written is not read as it was written")
            return true
        }
    }
}

/// Stops the fuzzer here, with the input at hand, unless both are the same.
func demand<Value: Equatable>(_ value: Value?, equals expected: Value, _ sentence: @autoclosure () -> String) {
    if value != expected { fatalError(sentence()) }
}

/// A value that every run needs.
func needed<Value>(_ make: () throws -> Value?) -> Value {
    guard let value = try? make() else { fatalError("a value of the fuzzer's own cannot be made") }
    return value
}
