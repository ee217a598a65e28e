// SPDX-License-Identifier: Apache-2.0

/// The two versions of how account states are written. The first line of a state says which.
package enum AccountStateForm: Hashable, Sendable, CaseIterable {
    /// Version 1: with all keys of each device, and with signatures in either of their two spellings. Read, for logs have
    /// such states, and no longer made.
    case wholeKeys
    /// Version 2: with the hash of each device's keys, and with signatures whose s is low.
    case hashedKeys

    /// The digit of the version, and the end of the line.
    private var end: [UInt8] { [self == .wholeKeys ? UInt8(ascii: "1") : UInt8(ascii: "2"), UInt8(ascii: "\n")] }

    /// The first line of an ordinary state.
    var ordinary: [UInt8] { Array("signet-account/v".utf8) + end }
    /// The first line of a note about a recovery.
    var note: [UInt8] { Array("signet-recovery-note/v".utf8) + end }
    /// The first line of a state under a recovered identity.
    var recovered: [UInt8] { Array("signet-recovered-account/v".utf8) + end }

    /// The form of which a state has one of the first lines.
    static func found(_ bytes: [UInt8], _ line: (AccountStateForm) -> [UInt8]) -> AccountStateForm? {
        allCases.first { bytes.starts(with: line($0)) }
    }

    /// Demands that a P-256 signature is in the one spelling that the form takes.
    func check(_ signature: [UInt8]) throws(AccountStateError) {
        guard self == .wholeKeys || AccountSignature.isLow(signature) else { throw .highSignature }
    }
}
