// SPDX-License-Identifier: Apache-2.0

import SignetServer

/// The settings that a configuration file and the environment give. The environment overrides the file, and options on
/// the command line override both.
///
/// A file has lines `key = value`, empty lines, and comments: lines that begin with `#`. Every key is one of
/// ``Setting`` and occurs once. Every environment variable whose name begins with `SIGNETD_` must be one of them too.
struct Settings {
    private(set) var values: [Setting: String] = [:]
    /// All errors, in the order of the file, and then in the order of the variables' names.
    private(set) var faults: [SettingFault] = []
    private var lines: [Setting: Int] = [:]

    /// The largest file, in bytes.
    static let maximumByteCount = 65_536

    /// - Parameter file: the path of the configuration file; nil if there is none.
    init(file: String?, environment: [String: String]) {
        if let file { read(file) }
        read(environment)
        checkRegistration()
        guard (values[.tlsCert] == nil) != (values[.tlsKey] == nil) else { return }
        faults.append(SettingFault(file.map { .file($0) } ?? .environment, .halfOfPair(.tlsCert, .tlsKey)))
    }

    /// The policy of registration is a file of its own, with errors of its own.
    private mutating func checkRegistration() {
        guard let path = values[.registration] else { return }
        do { _ = try RegistrationFile.policy(at: path) } catch { faults.append(error) }
        guard values[.byInvitation] == "true" else { return }
        faults.append(SettingFault(.file(path), .notTogether(.registration, .byInvitation)))
    }

    /// The arguments that `run` gets before those of the command line.
    ///
    /// - Parameter given: the arguments of the command line. The settings that they give are left out.
    func arguments(besides given: [String]) -> [String] {
        values.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { setting, value in
            Self.isGiven(setting, in: given) ? [] : setting.arguments(value)
        }
    }

    /// Whether the arguments of the command line give a setting, which overrides every other.
    static func isGiven(_ setting: Setting, in given: [String]) -> Bool {
        given.contains { $0 == setting.option || $0.hasPrefix(setting.option + "=") }
    }

    private mutating func read(_ path: String) {
        guard let bytes = OptionFile.contents(path) else {
            return faults.append(SettingFault(.file(path), .unreadable))
        }
        guard bytes.count <= Self.maximumByteCount, String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes)
        else {
            return faults.append(SettingFault(.file(path), .notText))
        }
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            read(String(decoding: line, as: UTF8.self), index + 1, path)
        }
    }

    private mutating func read(_ line: String, _ number: Int, _ path: String) {
        let content = Self.trimmed(line[...])
        guard !content.isEmpty, !content.hasPrefix("#") else { return }
        let place = SettingFault.Place.line(number, of: path)
        guard let equals = content.firstIndex(of: "=") else { return faults.append(SettingFault(place, .noEqualsSign)) }
        let key = Self.trimmed(content[..<equals])
        guard let setting = Setting(rawValue: key) else { return faults.append(SettingFault(place, .unknown(key))) }
        if let first = lines.updateValue(number, forKey: setting) {
            faults.append(SettingFault(place, .twice(setting, first: first)))
        }
        take(Self.trimmed(content[content.index(after: equals)...]), setting, place)
    }

    private mutating func read(_ environment: [String: String]) {
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(Setting.variablePrefix) {
            let place = SettingFault.Place.variable(name)
            guard let setting = Setting.allCases.first(where: { $0.variable == name }) else {
                faults.append(SettingFault(place, .unknown(name)))
                continue
            }
            take(value, setting, place)
        }
    }

    private mutating func take(_ value: String, _ setting: Setting, _ place: SettingFault.Place) {
        let isPlain = value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        if value.isEmpty {
            faults.append(SettingFault(place, .noValue(setting)))
        } else if value.contains(" #") {
            faults.append(SettingFault(place, .comment))
        } else if !isPlain || !setting.allows(value) {
            faults.append(SettingFault(place, .wrongValue(setting)))
        }
        values[setting] = value
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" || character == "\r" }
        let start = text.drop(while: isSpace)
        return String(start.reversed().drop(while: isSpace).reversed())
    }
}

/// An error in a setting, and its place.
struct SettingFault: Error, Hashable, Sendable {
    enum Place: Hashable, Sendable {
        case file(String)
        case line(Int, of: String)
        case variable(String)
        case environment
    }

    enum Reason: Hashable, Sendable {
        /// The file cannot be read.
        case unreadable
        /// The file is not UTF-8, or is longer than ``Settings/maximumByteCount``.
        case notText
        /// The line is neither empty, nor a comment, nor `key = value`.
        case noEqualsSign
        /// There is no setting of this name.
        case unknown(String)
        /// An earlier line gives the same setting.
        case twice(Setting, first: Int)
        /// The line has nothing after the equals sign.
        case noValue(Setting)
        /// The line has a comment after the value.
        case comment
        /// The value is not of the setting's kind.
        case wrongValue(Setting)
        /// One setting is given without the other that it needs.
        case halfOfPair(Setting, Setting)
        /// Both settings say the same thing, each in its way.
        case notTogether(Setting, Setting)
        /// The policy of registration is wrong.
        case policy(RegistrationPolicyError.Reason)
        /// The program that sends codes is not there, or this user may not run it.
        case mailProgram(String)
        /// The keys of the token issuer cannot be used.
        case tokenKeys(TokenKeysError)
    }

    let place: Place
    let reason: Reason

    init(_ place: Place, _ reason: Reason) {
        self.place = place
        self.reason = reason
    }
}
