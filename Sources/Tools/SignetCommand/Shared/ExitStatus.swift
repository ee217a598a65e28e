// SPDX-License-Identifier: Apache-2.0

/// What the program's exit status says. Scripts may rely on it.
enum ExitStatus: Int32, CaseIterable {
    /// Done; what was asked is proven.
    case done = 0
    /// Not proven, or refused by the directory.
    case notProven = 1
    /// Proven, but other devices, keys or guardians than were accepted: a person has to decide.
    case needsDecision = 2
    /// Network, disk or clock; a later try may succeed.
    case environment = 3
    /// Proven: the handle is not registered, or the account was closed.
    case noKeys = 4
    /// Proven: something was logged under the user's own name that this device did not do.
    case alarm = 5
    /// The command makes no sense as it was given.
    case usage = 64
    /// A file cannot be used: missing, damaged, of another kind, or sealed under another passphrase.
    case badFile = 65
    /// A bug in Signet.
    case bug = 70
    /// Interrupted from the keyboard.
    case interrupted = 130

    static let documentation = """
        Exit status: 0 done and proven; 1 not proven, or refused by the directory; 2 proven, but the devices \
        changed and you have to decide; 3 network, disk or clock; 4 proven that no one has registered the handle \
        or that the account was closed; 5 your own name shows something that you did not do here; 64 usage; 65 a file \
        that cannot be used, or a wrong passphrase; 70 a bug in signet.
        """
}
