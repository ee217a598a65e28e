// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SignetAPI
import SignetServer

/// `signetd profile`
struct ShowProfile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Print the file by which clients come to trust this server.")

    @OptionGroup var data: DataOption

    func run() throws {
        do {
            let profile = try StoredDirectory.readProfile(DataDirectory(path: data.data))
            print(String(decoding: profile.encoded, as: UTF8.self), terminator: "")
        } catch { throw Diagnostics.exit(error) }
    }
}
