// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyDirectory

/// An option that names a key in a token.
enum TokenOption {
    static func help(_ what: String) -> ArgumentHelp {
        ArgumentHelp(
            "An Ed25519 key in a token: 'pkcs11:token=LABEL;object=LABEL?module-path=/FILE&pin-source=file:/FILE'. "
                + what,
            valueName: "uri")
    }

    static func address(_ text: String) throws -> TokenAddress {
        do { return try TokenAddress(decoding: Array(text.utf8)) } catch { throw ValidationError(sentence(error)) }
    }

    private static func sentence(_ error: TokenAddressError) -> String {
        switch error {
        case .notAnAddress: "it begins with pkcs11: and has at most \(TokenAddress.maximumByteCount) bytes"
        case .missing: "token, object, module-path and pin-source are needed, each once"
        case .unknownAttribute: "there are token and object, and after the ? module-path and pin-source, and no others"
        case .malformed: "NAME=VALUE, each once; spaces and other signs as %20"
        case .relativePath: "module-path and pin-source are paths that begin with /"
        case .pinNotInAFile: "the PIN stands in a file of mode 0600: pin-source=file:/FILE"
        }
    }
}
