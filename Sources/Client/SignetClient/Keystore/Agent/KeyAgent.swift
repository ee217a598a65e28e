// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Platform
package import SecretMemory

/// Holds the key that a passphrase yields for one keystore, and gives it to other processes of the same user until its time is over.
///
/// A request is 49 bytes: `signet-agent/v1` LF, u8 what is asked for (1 the key, 2 that the agent ends), and the SHA-256 of the
/// keystore's file. The answer is u8 0, or u8 1, after the first request with the 32 bytes of the key.
///
/// Security: the key opens this keystore and no other, not even one that is sealed under the same passphrase again, and the passphrase does
/// not follow from it. Whoever has it and the file has the device's keys. Any process of the user can ask for it, and what has got it keeps it.
package struct KeyAgent: Sendable {
    static let format = Array("signet-agent/v1\n".utf8)
    package static let keyByteCount = 32

    enum Wish: UInt8 { case key = 1, end }

    private let key: SecretBytes
    private let file: DurableFile
    private let name: [UInt8]
    private let end: Double
    private let now: @Sendable () -> Double

    /// - Parameters:
    ///   - key: what `Keystore.passphraseKey(_:)` gave for the keystore that is in the folder.
    ///   - end: until when, in seconds of `now`, a clock that does not stop while the machine sleeps.
    package init?(_ key: SecretBytes, of home: HomeFolder, until end: Double, now: @escaping @Sendable () -> Double) {
        guard key.count == Self.keyByteCount, let name = Self.name(of: home.keystore) else { return nil }
        (self.key, file, self.name, self.end, self.now) = (key, home.keystore, name, end, now)
    }

    /// Whether the agent has to end: its time is over, or the keystore is gone or another one.
    package var isOver: Bool { now() >= end || Self.name(of: file) != name }

    /// Answers one caller, who has a second for it.
    ///
    /// - Returns: whether the caller may end the agent, and wants that.
    package func answer(_ caller: borrowing LocalSocket) -> Bool {
        guard caller.peerUser == geteuid() else { return false }
        caller.limit(toSeconds: 1)
        var request = [UInt8](repeating: 0, count: Self.format.count + 1 + name.count)
        guard request.withUnsafeMutableBytes({ caller.fill($0) }), request.starts(with: Self.format) else {
            return false
        }
        let wish = Wish(rawValue: request[Self.format.count])
        guard let wish, Array(request.suffix(name.count)) == name, !isOver else {
            _ = [UInt8(0)].withUnsafeBytes { caller.send($0) }
            return false
        }
        guard [UInt8(1)].withUnsafeBytes({ caller.send($0) }), wish == .key else { return wish == .end }
        _ = key.withBytes { caller.send($0) }
        return false
    }

    /// The hash by which a keystore is named; nil if there is none.
    static func name(of file: DurableFile) -> [UInt8]? {
        guard let bytes = try? file.read(maximumByteCount: Keystore.maximumByteCount) else { return nil }
        return Array(SHA256.hash(data: bytes))
    }
}

/// Asks the agent of a home folder.
package struct AgentClient: Sendable {
    private let home: HomeFolder
    private let place: AgentPlace

    /// - Parameter runtime: `$XDG_RUNTIME_DIR`; nil for none.
    package init(of home: HomeFolder, runtime: String?) {
        self.home = home
        place = AgentPlace(of: home, runtime: runtime)
    }

    /// The key of the keystore in the folder; nil if no agent gives one.
    package func key() -> SecretBytes? {
        guard let agent = ask(.key) else { return nil }
        var isFilled = false
        let key = SecretBytes(count: KeyAgent.keyByteCount) { isFilled = agent.fill($0) }
        return isFilled ? key : nil
    }

    /// Ends the agent.
    ///
    /// - Returns: whether there was one for this keystore.
    package func end() -> Bool { ask(.end) != nil }

    /// The agent, after it agreed. Nothing secret is sent, so that one that another program put there learns nothing.
    private func ask(_ wish: KeyAgent.Wish) -> LocalSocket? {
        guard place.isPrivate, let name = KeyAgent.name(of: home.keystore), let agent = LocalSocket.calling(place.path),
            agent.peerUser == geteuid()
        else { return nil }
        agent.limit(toSeconds: 2)
        var answer: [UInt8] = [0]
        let request = KeyAgent.format + [wish.rawValue] + name
        guard request.withUnsafeBytes({ agent.send($0) }), answer.withUnsafeMutableBytes({ agent.fill($0) }),
            answer == [1]
        else { return nil }
        return agent
    }
}
