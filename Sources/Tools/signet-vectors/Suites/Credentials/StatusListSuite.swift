// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import JOSE
import StrictJSON
import TokenStatusList

/// Token Status Lists in JWT form, each asked for one index.
struct StatusListSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "status-list",
        abstract: "Token Status List: each list gives the status at an index, or is refused.",
        discussion: "A list that another check refuses than the one the set names passes, with a remark.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        for vector in try CredentialCase.load(path) {
            let (text, claim, key) = (
                try vector.text("token").utf8, try vector.object("status"), try vector.key("issuer_key")
            )
            let limits = StatusListLimits(
                maximumAge: try vector.number("max_age"), maximumByteCount: Int(try vector.number("max_bytes")))
            let now = try vector.number("now")
            var (refusal, difference): (String?, String?)
            do throws(StatusFault) {
                let status = try status(text, claim, key, limits, now)
                difference = Int64(status) == vector.fields["value"]?.integer ? nil : "gives another status"
            } catch { refusal = error.rawValue }
            try vector.count(&report, refusal: refusal, difference: difference)
        }
    }

    private func status(
        _ text: [UInt8], _ claim: JSONObject, _ key: WebKey, _ limits: StatusListLimits, _ now: Int64
    ) throws(StatusFault) -> UInt8 {
        let reference = try StatusReference(claim)
        guard let key = key.signingKey else { throw .signature }
        return try StatusListVerifier.verify(text, for: reference, signedBy: key, limits: limits, at: now)
            .status(at: reference.index)
    }
}
