// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a policy. The file must be mended; none is worth a retry.
public enum PolicyError: Error, Hashable, Sendable {
    /// More than ``Policy/maximumByteCount`` bytes.
    case tooLong(byteCount: Int)
    /// The last line does not end in LF.
    case lineNotTerminated
    /// No quorum line.
    case quorumMissing
    /// Even with every witness whose kind of key we verify, the quorum is not met: the policy would refuse everything.
    case quorumOutOfReach
    /// A line, counted from one, that does not stand.
    case line(Int, PolicyLineFault)
}

/// What is wrong with a line of a policy.
public enum PolicyLineFault: Error, Hashable, Sendable {
    /// A control character other than tab, or DEL.
    case controlCharacter
    /// The first word is none of log, witness, group and quorum.
    case unknownKeyword
    /// Too few or too many words.
    case wrongWordCount(Int)
    /// Not a verifier key.
    case key(VerifierKeyError)
    /// A log with a witness's kind of key or the reverse.
    case keyOfOtherRole
    /// Another line of the same kind has this public key.
    case duplicateKey
    /// A witness or group has this name already.
    case duplicateName
    /// The name `none` is taken by the language.
    case reservedName
    /// An address that a line cannot hold.
    case malformedURL
    /// Neither `any`, nor `all`, nor a canonical number from 1 to the number of members.
    case malformedThreshold
    /// No earlier line defines this member or quorum.
    case undefinedName
    /// This member is in a group already.
    case memberTwice
    /// A second quorum line.
    case secondQuorum
}
