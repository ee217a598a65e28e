// SPDX-License-Identifier: Apache-2.0

import SQLStores

extension SQLValue {
    /// The number of its type in `pg_type`; 0: the server finds it.
    var type: UInt32 {
        switch self {
        case .null: 0
        case .integer: PostgresType.int8.rawValue
        case .bytes: PostgresType.bytea.rawValue
        case .text: PostgresType.text.rawValue
        }
    }
}

/// The arguments of a statement in binary form.
struct PostgresParameters {
    /// One byte more than is used, so that empty values have an address.
    private var bytes: [UInt8] = []
    /// Where each value begins; nil is NULL.
    private var places: [Int?] = []
    private var lengths: [Int32] = []

    init(_ arguments: [SQLValue]) {
        for argument in arguments {
            let start = bytes.count
            switch argument {
            case .null: break
            case .integer(let integer): withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
            case .bytes(let value): bytes.append(contentsOf: value)
            case .text(let text): bytes.append(contentsOf: text.utf8)
            }
            places.append(argument == .null ? nil : start)
            lengths.append(Int32(clamping: bytes.count - start))
        }
        bytes.append(0)
    }

    /// Hands over what libpq takes: values, their lengths and their forms.
    func pointers(
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>
        ) -> Int32
    ) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            let values = (places + [nil]).map { place in
                place.flatMap { place in buffer.baseAddress.map { ($0 + place).assumingMemoryBound(to: CChar.self) } }
            }
            return body(values, lengths + [0], Array(repeating: 1, count: lengths.count + 1))
        }
    }
}
