// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ProtocolTesting

/// By which TLS keys a directory's server is to be known: which pins a client must take, and which it must refuse.
struct PinsSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "pins",
        abstract: "Pins of a directory's server, good ones and ones with one fault each: Vectors/pins.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let cases: [PinsVector] = try VectorFile(path).json()
        guard !cases.isEmpty else { throw .noCases(path: path) }
        for test in cases { report.add(test) }
    }
}
