// SPDX-License-Identifier: Apache-2.0

package import StrictJSON

/// The checks that every reader of tokens has, each under its own name of them, so that what is wrong with a text is sorted in one
/// place.
package protocol TokenReadingFault: Error {
    /// Another number of parts, or parts of other lengths.
    static var form: Self { get }
    /// More bytes, or deeper values, than are read.
    static var limits: Self { get }
    /// A part that is not base64url without padding.
    static var base64URL: Self { get }
    /// Not JSON, or not an object where there must be one.
    static var json: Self { get }
    /// A name that stands twice in one object.
    static var duplicateMember: Self { get }
}

extension TokenReadingFault {
    /// What is wrong with JSON.
    package init(_ fault: JSONFault) {
        switch fault {
        case .duplicateMember: self = .duplicateMember
        case .tooLong, .tooDeep: self = .limits
        case .notUTF8, .syntax, .loneSurrogate: self = .json
        }
    }

    /// What is wrong with a signed token's text. Reading one does not judge its signature.
    package init(reading fault: SignedTokenFault) {
        switch fault {
        case .tooLong: self = .limits
        case .parts, .signature: self = .form
        case .encoding: self = .base64URL
        case .header(let fault): self.init(fault)
        }
    }
}
