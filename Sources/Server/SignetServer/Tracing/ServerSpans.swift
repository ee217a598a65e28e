// SPDX-License-Identifier: Apache-2.0

import Tracing

/// The steps of which the server makes spans. A tracer that the process bootstraps gets them; without one nothing is made.
enum SpanName: String, CaseIterable, Sendable {
    /// A registration, from its body to the answer.
    case registration = "signet.registration"
    /// Whether the operator's policy lets the handle be registered.
    case registrationPolicy = "signet.registration.policy"
    /// The directory takes the account: checks, database, log, and the wait until a published checkpoint covers it.
    case registrationAcceptance = "signet.registration.acceptance"
    /// A code is handed to the mail program.
    case registrationMail = "signet.registration.mail"
    /// The parts beside the directory get to know of the account.
    case registrationParts = "signet.registration.parts"
    /// An epoch's checkpoint is cosigned: a round of all witnesses, between the signature and the publication.
    case epochWitnesses = "signet.epoch.witnesses"
    /// The checkpoint is signed again, which ends an epoch too when it is time.
    case epochRepublication = "signet.epoch.republication"
}

/// What a span may say: numbers of things and of bytes, and nothing else. So no handle, label, key or address can be in a span.
enum SpanCount: String, CaseIterable, Sendable {
    /// Bytes of the request's body.
    case bodyBytes = "signet.body.bytes"
    /// Devices in the account's state.
    case devices = "signet.devices"
    /// Entries of the log that a checkpoint covers.
    case entries = "signet.entries"
    /// Witnesses that were asked.
    case asked = "signet.witnesses.asked"
    /// Witnesses that cosigned.
    case cosigned = "signet.witnesses.cosigned"
}

/// An open span, which takes counts.
struct ServerSpan: Sendable {
    fileprivate let span: (any Span)?

    func set(_ count: SpanCount, _ value: some BinaryInteger) {
        span?.attributes[count.rawValue] = SpanAttribute.int64(Int64(clamping: value))
    }
}

/// Does something within a span. Of an error it says that there was one, and not which.
func traced<Value: Sendable, Failure: Error>(
    _ name: SpanName, _ body: (ServerSpan) async throws(Failure) -> Value
) async throws(Failure) -> Value {
    let tracer = InstrumentationSystem.legacyTracer
    guard !(tracer is NoOpTracer) else { return try await body(ServerSpan(span: nil)) }
    let span = tracer.startAnySpan(name.rawValue)
    let result: Result<Value, Failure> = await ServiceContext.withValue(span.context) {
        do throws(Failure) { return .success(try await body(ServerSpan(span: span))) } catch { return .failure(error) }
    }
    if case .failure = result { span.setStatus(SpanStatus(code: .error)) }
    span.end()
    return try result.get()
}
