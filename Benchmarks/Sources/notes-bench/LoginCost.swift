// SPDX-License-Identifier: Apache-2.0

import Measuring
import OPAQUE

/// The server's answer to a login of somebody whom it does not know, beside one of somebody whom it knows: one that
/// comes sooner or later would tell.
struct LoginCost {
    private let keys: LoginServerKeys
    private let parameters: LoginParameters
    private let record: RegistrationRecord
    private let request: LoginRequest
    private let account = Array("anna@example.org".utf8)

    init() throws {
        let password = Array("correct horse".utf8)
        keys = try LoginServerKeys.generate()
        parameters = try LoginParameters(context: [1])
        let client = try ClientRegistration(password: password.span)
        record = try client.finish(
            keys.respond(to: client.request, credential: account), password: password.span, parameters: parameters,
            stretching: .identity
        ).record
        request = try ClientLogin(password: password.span).request
    }

    func report() throws {
        let timings = try interleaved(
            rounds: 200, repetitions: 20,
            [Candidate("somebody known", { try answer(record) }), Candidate("nobody", { try answer(nil) })])
        Report.title("The server's answer to a login")
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
        }
        let ratio = timings.median { $0[1] / $0[0] }
        Report.line("of the rounds, nobody's answer took longer in", timings.share { $0[1] > $0[0] } * 100, "%")
        Report.goal("nobody ÷ somebody known, median of rounds", ratio, atMost: 1.02)
        Report.goal("nobody ÷ somebody known, median of rounds", ratio, atLeast: 0.98)
    }

    private func answer(_ record: RegistrationRecord?) throws {
        keep(
            try ServerLogin(request, record: record, credential: account, keys: keys, parameters: parameters).response)
    }
}
