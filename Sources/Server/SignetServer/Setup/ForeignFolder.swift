// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform

/// A folder, or a link, on the way to a place where root is to work, that another user can put something else in the place of.
///
/// What is written there is written by names, one file after the other. Whoever can rename a folder on the way while that goes on, and puts
/// a link in its place, has root make files of their choice anywhere: the server's user would be root.
package struct ForeignFolder: Error, Hashable, Sendable {
    /// The folder or the link.
    package let path: String

    /// Refuses places that only root should choose, if this process is root's. Other users write nowhere that they could not write without it.
    ///
    /// A way that holds is root's from `/` on, so that it stays what was looked at.
    ///
    /// - Parameter places: files and folders, there or to be made.
    /// - Throws: ``ForeignFolder``, the first.
    package static func requireNone(onTheWayTo places: [String]) throws(ForeignFolder) {
        guard geteuid() == 0 else { return }
        for place in places { try requireNone(onTheWayTo: place, links: 40) }
    }

    /// - Parameter links: how many more are followed; the system follows 40.
    private static func requireNone(onTheWayTo place: String, links: Int) throws(ForeignFolder) {
        let files = FileManager.default
        let whole = place.hasPrefix("/") ? place : "\(files.currentDirectoryPath)/\(place)"
        var (folder, way) = ("", "/")
        for part in [""] + whole.split(separator: "/").map(String.init) {
            way = "\(folder)/\(part)"
            // What is not there is made in what was looked at.
            guard let status = FileStatus(ofEntry: way) else { return }
            guard status.owner == 0, !status.letsOthersReplace else { throw ForeignFolder(path: way) }
            if let target = try? files.destinationOfSymbolicLink(atPath: way) {
                guard links > 0 else { throw ForeignFolder(path: way) }
                try requireNone(
                    onTheWayTo: target.hasPrefix("/") ? target : "\(folder)/\(target)", links: links - 1)
            }
            folder = part.isEmpty ? "" : way
        }
    }
}
