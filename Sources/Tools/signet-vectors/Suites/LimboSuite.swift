import ArgumentParser
import Dispatch
import Foundation
import KeyPinning
import PinnedChains
import Synchronization

/// Certificate paths in the schema of C2SP's x509-limbo.
///
/// A rule without pins trusts the host's chain, so that trust alone is measured. A case with which we disagree on purpose
/// stands with its reason in a list; one that is not listed, or listed without need, fails.
struct LimboSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "limbo", abstract: "Certificate paths (C2SP x509-limbo JSON).")

    @Argument(help: "The JSON file.") var path: String

    @Option(help: "Where accepted deviations are listed: a case and a reason on each line.")
    var deviations = "Vectors/limbo/deviations.txt"

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let file: File = try VectorFile(path).json()
        let cases = file.testcases.filter(\.isOurs)
        guard !cases.isEmpty else { throw .noCases(path: path) }
        let reasons = try readDeviations()
        let refusals = Self.judge(cases)
        var agreed = 0
        for (test, refusal) in zip(cases, refusals) {
            let agrees = (refusal == nil) == (test.expected_result == "SUCCESS")
            if agrees { agreed += 1 }
            switch (agrees, reasons[test.id]) {
            case (true, nil): report.add(test.id, failure: nil)
            case (true, _?): report.add(test.id, failure: "listed as a deviation, and agrees")
            case (false, let reason?):
                report.add(test.id, failure: nil)
                report.remark("\(test.id): \(refusal == nil ? "accepted" : "refused") on purpose: \(reason)")
            case (false, nil):
                report.add(test.id, valid: refusal != nil, refusal: refusal, about: test.expected_result)
            }
        }
        report.remark("\(agreed) of \(cases.count) agree; \(file.testcases.count - cases.count) cases left out")
    }

    /// Runs the suite with a list of its own, and returns its verdicts.
    static func report(on path: String, deviations: String) throws -> VectorReport {
        guard let suite = try parseAsRoot([path, "--deviations", deviations]) as? LimboSuite else {
            throw VectorFileError.unreadable(path: path)
        }
        var report = VectorReport()
        try suite.fill(&report)
        return report
    }

    private func readDeviations() throws(VectorFileError) -> [String: String] {
        let text = String(decoding: try VectorFile(deviations).bytes(), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
        ) { first, _ in first }
    }

    /// Why each case is refused; nil for an acceptance. Waits for the verifier, which is asynchronous.
    private static func judge(_ cases: [Case]) -> [String?] {
        let results = Mutex<[String?]>([])
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            for test in cases {
                let refusal = await test.refusal()
                results.withLock { $0.append(refusal) }
            }
            done.signal()
        }
        done.wait()
        return results.withLock { $0 }
    }

    struct File: Decodable { let testcases: [Case] }

    struct Case: Decodable, Sendable {
        struct Name: Decodable {
            let kind: String
            let value: String
        }
        let id: String
        let features: [String]?
        let validation_kind: String
        let trusted_certs: [String]
        let untrusted_intermediates: [String]
        let peer_certificate: String
        let validation_time: Date?
        let expected_result: String
        let expected_peer_name: Name?

        private enum CodingKeys: CodingKey {
            case id, features, validation_kind, trusted_certs, untrusted_intermediates, peer_certificate
            case validation_time, expected_result, expected_peer_name
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(String.self, forKey: .id)
            features = try fields.decodeIfPresent([String].self, forKey: .features)
            validation_kind = try fields.decode(String.self, forKey: .validation_kind)
            trusted_certs = try fields.decode([String].self, forKey: .trusted_certs)
            untrusted_intermediates = try fields.decode([String].self, forKey: .untrusted_intermediates)
            peer_certificate = try fields.decode(String.self, forKey: .peer_certificate)
            validation_time = try fields.decodeIfPresent(String.self, forKey: .validation_time)
                .flatMap { try? Date($0, strategy: .iso8601) }
            expected_result = try fields.decode(String.self, forKey: .expected_result)
            expected_peer_name = try fields.decodeIfPresent(Name.self, forKey: .expected_peer_name)
        }

        /// Servers that are named; without a limit of the case's own, which our verifier does not take.
        var isOurs: Bool {
            validation_kind == "SERVER" && expected_peer_name != nil
                && !(features ?? []).contains("max-chain-depth") && !id.hasPrefix("bettertls::")
                && !id.hasPrefix("online::")
        }

        func refusal() async -> String? {
            guard let name = expected_peer_name, let host = try? ServerName(name.value.utf8) else { return "host" }
            do {
                let rule = try PinRule(for: .exactly(host), mode: .trustOnly, pins: [])
                let policy = try PinPolicy(version: 1, environment: .staging, rules: [rule])
                let anchors = TrustAnchors(readable: try trusted_certs.flatMap(Self.certificates))
                let chain = try ([peer_certificate] + untrusted_intermediates).flatMap(Self.certificates)
                let now = UInt64((validation_time ?? Date()).timeIntervalSince1970)
                _ = try await ChainVerifier(policy: policy, anchors: anchors).verify(chain, for: host, at: now)
                return nil
            } catch let refusal as ChainRefusal {
                return "\(refusal.reason)"
            } catch { return "\(error)" }
        }

        private static func certificates(_ text: String) throws -> [[UInt8]] {
            try PEMBlock.certificates(in: Array(text.utf8))
        }
    }
}
