// SPDX-License-Identifier: Apache-2.0

import JOSE
import StrictJSON

extension PresentationVerifier {
    static func checkDigestAlgorithm(_ payload: JSONObject) throws(PresentationFault) {
        guard payload["_sd_alg"] == nil || payload["_sd_alg"] == .string("sha-256") else { throw .digestAlgorithm }
    }

    /// The type, which is one that was asked for or says that it is also one of them.
    static func checkedType(_ claims: JSONObject, _ asked: [JSONText]) throws(PresentationFault) -> JSONText {
        guard let type = claims["vct"]?.string else { throw .type }
        var names = [type]
        if let others = claims["aka_vcts"] {
            guard let others = others.strings, !others.isEmpty, !others.contains(type),
                Set(others).count == others.count
            else { throw .type }
            names += others
        }
        guard names.contains(where: asked.contains) else { throw .type }
        return type
    }

    static func checkTimes(_ claims: JSONObject, _ now: Int64) throws(PresentationFault) {
        for name in ["iat", "nbf", "exp"] as [JSONText] where claims[name] != nil {
            guard claims[name]?.integer != nil else { throw .timeForm }
        }
        if let end = claims["exp"]?.integer, now >= end { throw .expired }
        if let start = claims["nbf"]?.integer, now < start { throw .notYet }
    }

    /// The holder's key: `cnf` has one member, `jwk`, which is one public P-256 key.
    static func holderKey(_ claims: JSONObject) throws(PresentationFault) -> WebKey? {
        guard let confirmation = claims["cnf"] else { return nil }
        guard let members = confirmation.object, members.members.count == 1, let key = members["jwk"]?.object,
            let holder = try? WebKey(key)
        else { throw .confirmation }
        return holder
    }

    static func checkRequiredClaims(_ claims: JSONObject, _ paths: [ClaimPath]) throws(PresentationFault) {
        guard paths.allSatisfy({ !$0.values(in: claims).isEmpty }) else { throw .claimsMissing }
    }
}
