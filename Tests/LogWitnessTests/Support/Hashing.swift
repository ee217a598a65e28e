// SPDX-License-Identifier: Apache-2.0

import Crypto

extension [UInt8] {
    var sha256: [UInt8] { Array(SHA256.hash(data: self)) }
}
