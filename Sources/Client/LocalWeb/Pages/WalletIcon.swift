// SPDX-License-Identifier: Apache-2.0

import QRCode

/// A wallet demands an icon. This one has 29 by 29 and 58 by 58 points, as Apple asks for, and is the same for everybody.
package enum WalletIcon {
    /// By the names that a wallet expects.
    package static var pictures: [String: [UInt8]] {
        guard let icon = QRSymbol(Array("SIGNET CARD".utf8)) else { return [:] }
        return ["icon.png": icon.png(scale: 1), "icon@2x.png": icon.png(scale: 2)]
    }
}
