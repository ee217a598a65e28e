// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Logging

/// A setting of `signetd run` that a configuration file or the environment may give. The raw value is its key in the file and the name
/// of the option.
///
/// `--accept-restored`, `--accept-lost-notes` and `--accept-clock` are none: they are for one start.
enum Setting: String, CaseIterable, Sendable {
    case accountRate = "account-rate"
    case adminListen = "admin-listen"
    case announce
    case behind
    case bind
    case byInvitation = "by-invitation"
    case connections
    case connectionsPerAddress = "connections-per-address"
    case data
    case disregardWitness = "disregard-witness"
    case drain
    case epoch
    case explorer
    case heartbeat
    case logLevel = "log-level"
    case loginAttempts = "login-attempts"
    case openMetrics = "open-metrics"
    case plainHTTP = "plain-http"
    case quota
    case rate
    case registration
    case registrations
    case relayBind = "relay-bind"
    case relayPort = "relay-port"
    case relays
    case republish
    case roles
    case requireConfirmation = "require-confirmation"
    case secondMemory = "second-memory"
    case signals
    case tlsCert = "tls-cert"
    case tlsKey = "tls-key"
    case witnessRoots = "witness-roots"

    /// What a value has to be.
    enum Kind: Hashable, Sendable {
        case address
        /// An address without a port.
        case host
        /// An address, or `unix:` and a path.
        case listenAddress
        /// Addresses or networks without ports, with spaces between them.
        case addresses
        /// The path of a folder that a command made, or will make.
        case folder
        /// The path of a file that can be read.
        case file
        case level
        /// Names of witnesses, with spaces between them.
        case names
        case number(ClosedRange<UInt64>)
        /// Numbers of ports, with commas between them.
        case ports
        /// `serve`, `sequence` or both, with a comma between them.
        case roles
        /// A number of bytes, such as `5GB`.
        case size
        /// `true` or `false`.
        case truth
    }

    var kind: Kind {
        switch self {
        case .adminListen: .address
        case .relayBind: .host
        case .bind: .listenAddress
        case .behind: .addresses
        case .data, .explorer: .folder
        case .registration, .secondMemory, .signals, .tlsCert, .tlsKey, .witnessRoots: .file
        case .logLevel: .level
        case .disregardWitness: .names
        case .quota: .size
        case .roles: .roles
        case .byInvitation, .openMetrics, .plainHTTP, .requireConfirmation: .truth
        case .connections, .connectionsPerAddress: .number(1...UInt64(Int32.max))
        case .relays: .ports
        case .relayPort: .number(0...UInt64(UInt16.max))
        case .drain, .republish: .number(1...UInt64(UInt32.max))
        case .accountRate, .announce, .epoch, .heartbeat, .loginAttempts, .rate, .registrations:
            .number(0...UInt64(UInt32.max))
        }
    }

    /// The name of its environment variable, such as `SIGNETD_TLS_CERT`.
    var variable: String { Self.variablePrefix + rawValue.uppercased().replacing("-", with: "_") }

    static let variablePrefix = "SIGNETD_"

    var option: String { "--" + rawValue }

    /// The value as `run` takes it.
    func arguments(_ value: String) -> [String] {
        switch kind {
        case .truth: value == "true" ? [option] : []
        case .addresses, .names: Self.words(value).map { "\(option)=\($0)" }
        default: ["\(option)=\(value)"]
        }
    }

    /// Whether a value is one of its kind.
    func allows(_ value: String) -> Bool {
        switch kind {
        case .address: SocketName(value, defaultPort: 0) != nil
        case .host: (try? RelayBind(typed: value)) != nil
        case .listenAddress: (try? ListenAddress(typed: value)) != nil
        case .addresses: Self.words(value).allSatisfy { IPNetwork(text: $0) != nil }
        case .folder, .names: true
        case .file: OptionFile.canBeRead(value)
        case .level: Logger.Level(rawValue: value) != nil
        // "+1" is a number to Swift.
        case .number(let range):
            value.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt64(value).map(range.contains) ?? false
        case .ports: (try? RelayPorts(typed: value)) != nil
        case .roles: (try? ServerRoles(typed: value)) != nil
        case .size: (try? ByteSize(typed: value)) != nil
        case .truth: ["true", "false"].contains(value)
        }
    }

    private static func words(_ value: String) -> [String] { value.split(separator: " ").map(String.init) }
}
