// SPDX-License-Identifier: Apache-2.0

import LogWitness
import ProcessTesting
import SignetServer
import TransparencyLog

/// The real `signetd witness run` as a process of its own.
typealias WitnessProcess = DaemonProcess

extension DaemonProcess {
    /// Starts a witness on any port; `wrapper` is a command that is given signetd's command line.
    convenience init(_ data: WitnessDirectory, isPlain: Bool = true, wrapper: [String] = []) throws {
        try self.init(
            "signetd",
            ["witness", "run", "--data", data.path, "--bind", "127.0.0.1:0", "--rate", "0"]
                + (isPlain ? ["--plain-http"] : []),
            wrapper: wrapper)
    }
}

/// Makes the data directory of a witness that serves a log and speaks plain HTTP.
@discardableResult func setUpWitness(
    _ data: WitnessDirectory, for log: TestLog, name: String = "witness.example/w0",
    tls: DirectorySetup.TLSSource? = nil
) throws -> VerifierKey {
    let key = try WitnessSetup(name: KeyName(Array(name.utf8)), tls: tls).make(data, at: currentTime())
    try StoredWitness(data).add([.init(key: log.key)])
    return key
}

/// A policy of one log whose quorum is `rule`, with these witnesses as `w0`, `w1`, ….
func policy(_ log: TestLog, _ witnesses: [(key: VerifierKey, url: [UInt8]?)], _ rule: String) throws -> Policy {
    var text = Array("log ".utf8) + log.key.encoded + [0x0A]
    for (number, witness) in witnesses.enumerated() {
        text += Array("witness w\(number) ".utf8) + witness.key.encoded
        if let url = witness.url { text += [0x20] + url }
        text += [0x0A]
    }
    return try Policy(decoding: text + Array(rule.utf8))
}

func localURL(_ port: Int, _ scheme: String = "http") -> [UInt8] { Array("\(scheme)://127.0.0.1:\(port)".utf8) }
