// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import DeviceIdentity
import SecretMemory
import SignetClient

/// The items of one store in the desktop's keyring, through `secret-tool`. Each is hex, with its kind in front: 0 for a secret.
struct KeyringItems: Sendable {
    let store: String
    let tools: ToolRunner

    func names() throws(PrivateKeyStoreError) -> Set<String> {
        // `secret-tool` cannot list without the secrets.
        var outcome = try tool(["search", "--all", "service", "signet", "store", store])
        defer { outcome.output.wipe() }
        let prefix = Array("attribute.name = ".utf8)
        // Where the attributes are written differs between versions.
        let names = [outcome.output, Array(outcome.complaints.utf8)].flatMap { text in
            text.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: prefix) }
                .map { String(decoding: $0.dropFirst(prefix.count), as: UTF8.self) }
        }
        return Set(names)
    }

    /// Adds one under a name that is free.
    func add(_ kind: UInt8, _ bytes: SecretBytes, named name: String) throws(PrivateKeyStoreError) {
        guard try item(named: name) == nil else { throw .nameTaken }
        var text = bytes.withBytes { Hex.encode([kind] + Array($0)) }
        defer { text.wipe() }
        let input = SecretBytes(copying: text)
        _ = try tool(["store", "--label=Signet"] + attributes(name), input)
        // `secret-tool` says nothing about items that it did not get to store.
        guard try item(named: name) != nil else { throw .unavailable }
    }

    func item(named name: String) throws(PrivateKeyStoreError) -> (PrivateKeyKind?, SecretBytes)? {
        var output = try tool(["lookup"] + attributes(name), missing: true).output
        defer { output.wipe() }
        guard !output.isEmpty else { return nil }
        guard var bytes = try? Hex.decode(output), let first = bytes.first else { throw .damaged }
        defer { bytes.wipe() }
        let kind = PrivateKeyKind(rawValue: first)
        guard first == 0 || kind != nil else { throw .damaged }
        return (kind, SecretBytes(copying: bytes.dropFirst()))
    }

    func erase(_ name: String) throws(PrivateKeyStoreError) {
        _ = try tool(["clear"] + attributes(name), missing: true)
    }

    private func attributes(_ name: String) -> [String] { ["service", "signet", "store", store, "name", name] }

    /// - Parameter missing: whether an unsuccessful end without a complaint means that there is no such item.
    private func tool(
        _ arguments: [String], _ input: SecretBytes? = nil, missing: Bool = false
    ) throws(PrivateKeyStoreError) -> ToolRunner.Outcome {
        guard let outcome = tools.run("secret-tool", arguments, input) else { throw .absent }
        if outcome.status == 0 || (missing && outcome.complaints.isEmpty) { return outcome }
        let complaints = outcome.complaints.lowercased()
        if ["autolaunch", "could not connect", "not provided", "serviceunknown", "no such file"].contains(
            where: complaints.contains)
        {
            throw .absent
        }
        if ["locked", "prompt", "dismissed"].contains(where: complaints.contains) { throw .locked }
        throw .unavailable
    }
}
