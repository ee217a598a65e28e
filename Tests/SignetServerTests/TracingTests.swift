// SPDX-License-Identifier: Apache-2.0

import CanaryScan
import ConnectionLimits
import Crypto
import Foundation
import HTTPTypes
import InMemoryTracing
import KeyDirectory
import KeyTransparency
import NIOCore
import SignetAPI
import Testing
import Tracing

@testable import SignetServer

/// The spans of a registration, in a tracer that keeps them in memory.
@Suite struct TracingTests {
    /// A process bootstraps one tracer. Spans of other tests are told apart by their trace.
    private static let tracer: InMemoryTracer = {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    /// Runs something below a span of the test's, and gives the spans that came out of it, in the order in which they began.
    private static func spans(of body: () async throws -> Void) async throws -> [FinishedInMemorySpan] {
        let root = tracer.startSpan("test")
        try await ServiceContext.withValue(root.context) { try await body() }
        root.end()
        return tracer.finishedSpans.filter { $0.traceID == root.traceID && $0.spanID != root.spanID }
            .sorted { $0.startInstant.nanosecondsSinceEpoch < $1.startInstant.nanosecondsSinceEpoch }
    }

    private static func register(
        _ person: TestPerson, _ answering: RequestAnswering, _ directory: Directory
    ) async throws -> Answer {
        let challenge = try await directory.challenge(PossessionRequest(handle: person.handle, keys: person.keys))
        let body = try person.submission(answering: challenge.encoded).encoded
        let client = TestClient(port: 0, root: [])
        let request = ReceivedRequest(
            destination: .route(.register), method: Route.register.method, path: Route.register.path,
            signature: try person.signature(.register, body, client), body: body,
            client: ClientAddress(try? .init(ipAddress: "192.0.2.77", port: 4711)))
        return try await answering.answer(request)
    }

    private static func answering(_ directory: Directory) -> RequestAnswering {
        RequestAnswering(
            directory: DirectoryAdapter(directory), parts: PartTable([]),
            accountRate: RateLimiter(perSecond: 0, burst: 0, remembering: 1), metrics: ServerMetrics(), clock: .system)
    }

    /// Everything that a span says.
    private static func texts(_ span: FinishedInMemorySpan) -> String {
        var texts = [span.operationName, "\(span.events)", "\(span.links)", "\(span.errors)", "\(span.status as Any)"]
        span.attributes.forEach { name, value in texts.append("\(name)=\(value)") }
        return texts.joined(separator: "\n")
    }

    @Test func theSpansOfARegistrationAreItsSteps_andNameNobody() async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            let word = Canary.word("handle")
            let person = try TestPerson("\(word.text)@example.org")
            let spans = try await Self.spans {
                let answer = try await Self.register(person, Self.answering(stored.directory), stored.directory)
                #expect(answer.status == .ok)
            }
            #expect(
                spans.map(\.operationName) == [
                    "signet.registration", "signet.registration.policy", "signet.registration.acceptance",
                ])
            #expect(spans[1].parentSpanID == spans[0].spanID && spans[2].parentSpanID == spans[0].spanID)
            #expect(spans[0].attributes["signet.devices"]?.toSpanAttribute() == .int64(1))
            #expect(spans.allSatisfy { $0.events.isEmpty && $0.errors.isEmpty && $0.links.isEmpty })
            let label = try await stored.directory.account(person.handle)
            #expect(label.version == 1)
            let scanner = try #require(
                CanaryScanner([
                    word, Canary("handle", person.handle.bytes), Canary("device key", person.keys.signing),
                    Canary("identity", Array(person.identity.publicKey.compressedRepresentation)),
                    Canary("address", Array("192.0.2.77".utf8)),
                ]))
            let said = Array(spans.map(Self.texts).joined(separator: "\n").utf8)
            #expect(scanner.findings(in: said, at: "spans", inflating: false).isEmpty)
            #expect(
                !scanner.findings(in: said + word.bytes, at: "spans", inflating: false).isEmpty, "the scan sees one")
            await stored.directory.close()
        }
    }

    /// A refusal leaves no reason in a span: a reason could be of one account.
    @Test func aRefusalIsAnErrorWithoutAText() async throws {
        try await withDataDirectory { data in
            let stored = try await StoredDirectory.open(data, logger: silent)
            var answering = Self.answering(stored.directory)
            answering.registersByInvitation = { true }
            let person = try TestPerson("alice@example.org")
            let spans = try await Self.spans { [answering] in
                let answer = try await Self.register(person, answering, stored.directory)
                #expect(answer.status == .forbidden)
            }
            #expect(spans.map(\.status?.code) == [.error, nil, .error])
            #expect(spans.allSatisfy { $0.status?.message == nil && $0.errors.isEmpty })
            await stored.directory.close()
        }
    }

    /// What a span can say is a closed list of numbers.
    @Test func aSpanSaysCountsOnly() async throws {
        let spans = try await Self.spans {
            await traced(.epochWitnesses) { span in
                for count in SpanCount.allCases { span.set(count, 7) }
            }
        }
        var names: Set<String> = []
        try #require(spans.first).attributes.forEach { name, value in
            names.insert(name)
            #expect(value == .int64(7))
        }
        #expect(names == Set(SpanCount.allCases.map(\.rawValue)))
    }
}
