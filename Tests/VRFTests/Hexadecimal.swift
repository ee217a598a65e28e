// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

@testable import VRF

/// The bytes of lower-case hex.
func unhex(_ text: String) throws -> [UInt8] { try Hex.decode(Array(text.utf8)) }

/// Lower-case hex of bytes.
func hex(_ bytes: [UInt8]) -> String { String(decoding: Hex.encode(bytes), as: UTF8.self) }

extension Bytes32 {
    init(hex: String) throws {
        let bytes = try unhex(hex)
        self.init(bytes.span)
    }

    var hex: String { VRFTests.hex(bytes) }
}

extension Digest512 {
    init(hex: String) throws {
        let bytes = try unhex(hex)
        self.init(bytes.span)
    }
}
