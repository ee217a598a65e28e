// SPDX-License-Identifier: Apache-2.0

import Platform
import SignetServer

/// A command that writes in folders by the names of what is in them: each that does but `accounts`, which asks the running server, and
/// `recovery-key make`, which makes one new file somewhere else.
protocol FolderCommand {
    /// The data directory.
    var data: DataOption { get }
    /// All files and folders in which or as which it writes, and whose databases it opens.
    var places: [String] { get }
}

extension FolderCommand {
    var places: [String] { [data.data] }
}

extension Verdict {
    static func of(_ error: ForeignFolder) -> Verdict {
        // Root's folder that others may write in names nobody.
        let owner = FileStatus(ofEntry: error.path).flatMap { $0.owner == 0 ? nil : $0.owner }
        let user = owner.map { UserName.of($0) ?? "\($0)" } ?? "signet"
        return Verdict(
            .notAllowed,
            "nothing was done: \(error.path) belongs to another user, or others may write there, and they could lead what root writes to any "
                + "other place. Run the command as the user whom it belongs to, such as with setpriv --reuid \(user) --regid \(user) "
                + "--clear-groups; a backup also with systemctl start signetd-backup.service. A folder of root's that others may write in "
                + "needs chmod go-w")
    }
}
