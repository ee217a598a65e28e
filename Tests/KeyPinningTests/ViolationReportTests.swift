// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import Testing

@Suite struct ViolationReportTests {
    private func report(_ setting: String) throws -> ViolationReport {
        let rule = try PinRuleTests.rule("*.example.org", expiry: PinExpiry(time: 1_798_761_600))
        return ViolationReport(
            time: 1_795_269_969, host: try ServerName("api.example.org".utf8), port: 443, rule: rule, wasRefused: true,
            servedChain: PinVector.all.prefix(2).map(\.certificate), validatedChain: [],
            proxy: .configured(setting: Array(setting.utf8)), policyVersion: 7)
    }

    @Test func aReportIsTheObjectOfRFC7469() throws {
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(report("https_proxy").json)) as? [String: Any])
        #expect(object["date-time"] as? String == "2026-11-21T14:06:09Z")
        #expect(object["hostname"] as? String == "api.example.org")
        #expect(object["noted-hostname"] as? String == "*.example.org")
        #expect(object["port"] as? Int == 443)
        #expect(object["include-subdomains"] as? Bool == true)
        #expect(object["effective-expiration-date"] as? String == "2027-01-01T00:00:00Z")
        let served = try #require(object["served-certificate-chain"] as? [String])
        #expect(
            try PEMBlock.certificates(in: Array(served.joined().utf8)) == PinVector.all.prefix(2).map(\.certificate))
        #expect((object["validated-certificate-chain"] as? [String])?.isEmpty == true)
        let pins = try #require(object["known-pins"] as? [String])
        #expect(try pins.map { try SPKIPin($0.utf8) } == Array(PinRuleTests.keys.prefix(2)))
        #expect(object["signet-proxy"] as? String == "https_proxy")
    }

    @Test func textFromOutsideCannotLeaveItsString() throws {
        let hostile = "\",\"hostname\":\"evil\\\u{7}\n"
        let object = try #require(try JSONSerialization.jsonObject(with: Data(report(hostile).json)) as? [String: Any])
        #expect(object["hostname"] as? String == "api.example.org")
        #expect(object["signet-proxy"] as? String == "\",\"hostname\":\"evil\\??")
    }
}
