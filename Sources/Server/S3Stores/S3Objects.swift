// SPDX-License-Identifier: Apache-2.0

package import ObjectStores
import S3Requests

/// How a store wants its own tag back in `If-Match`.
package enum S3TagForm: Hashable, Sendable, CaseIterable {
    /// As it gave it: Amazon's, in quotes.
    case asGiven
    /// Without the quotes around it: Ceph's gateway compares the header with the bare digits.
    case unquoted
}

/// Objects in a bucket of a store that speaks S3, addressed by path.
///
/// Each request has a deadline. What can be asked again without harm is: reads, lists and removals here, conditional writes by
/// `putImmutable` and `swap`.
package final class S3Objects: ObjectStore {
    private let configuration: S3Configuration
    private let transport: S3Transport
    private let tagForm: S3TagForm

    /// A store that is known to keep conditions, and which form of tags it wants back.
    ///
    /// - Throws: ``S3ConfigurationError``.
    package convenience init(
        _ configuration: S3Configuration, tagForm: S3TagForm
    ) throws(S3ConfigurationError) {
        self.init(configuration, try S3Transport(configuration), tagForm)
    }

    private init(_ configuration: S3Configuration, _ transport: S3Transport, _ tagForm: S3TagForm) {
        (self.configuration, self.transport, self.tagForm) = (configuration, transport, tagForm)
    }

    /// Opens a store, finds out which form of tags it wants back, and refuses one that does not keep conditions.
    ///
    /// - Throws: ``S3OpenError``.
    package static func open(_ configuration: S3Configuration) async throws(S3OpenError) -> S3Objects {
        let transport: S3Transport
        do throws(S3ConfigurationError) {
            transport = try S3Transport(configuration)
        } catch {
            throw .configuration(error)
        }
        do throws(ObjectProbeError) {
            return try await probed(configuration, transport)
        } catch {
            await transport.close()
            throw .probe(error)
        }
    }

    private static func probed(
        _ configuration: S3Configuration, _ transport: S3Transport
    ) async throws(ObjectProbeError) -> S3Objects {
        for form in S3TagForm.allCases {
            let objects = S3Objects(configuration, transport, form)
            do throws(ObjectProbeError) {
                try await objects.probe()
                return objects
            } catch {
                guard error == .refusesItsOwnTag else { throw error }
            }
        }
        throw .refusesItsOwnTag
    }

    package func close() async { await transport.close() }

    package func get(_ path: String) async throws(ObjectFault) -> StoredObject? {
        try ObjectPath.check(path)
        let request = S3Request(.get, path: address(path))
        return try await again { () async throws(ObjectFault) in
            try S3Judgement.get(try await self.ask(request, limit: self.configuration.maximumByteCount))
        }
    }

    package func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome {
        try ObjectPath.check(path)
        guard bytes.count <= configuration.maximumByteCount else {
            throw .tooLarge(limit: configuration.maximumByteCount)
        }
        let request = S3Request(.put, path: address(path), headers: [header(condition)], payload: bytes)
        let answer: S3Answer
        do throws(S3Silence) {
            answer = try await transport.send(request, limit: Self.maximumPageByteCount)
        } catch {
            throw error.afterWriting
        }
        return try S3Judgement.put(answer, condition)
    }

    package func remove(_ path: String) async throws(ObjectFault) {
        try ObjectPath.check(path)
        let request = S3Request(.delete, path: address(path))
        try await again { () async throws(ObjectFault) in
            let answer: S3Answer
            do throws(S3Silence) {
                answer = try await self.transport.send(request, limit: Self.maximumPageByteCount)
            } catch {
                throw error.afterWriting
            }
            try S3Judgement.remove(answer)
        }
    }

    package func list(_ prefix: String) async throws(ObjectFault) -> [String] {
        guard ObjectPath.isValidPrefix(prefix) else { throw .invalidPath }
        var (found, token): ([String], String?) = ([], nil)
        for _ in 0..<Self.maximumPageCount {
            let page = try await page(of: prefix, after: token)
            found += page.keys.filter { $0.hasPrefix(configuration.prefix + prefix) }
            guard let next = page.continuationToken else { return paths(found) }
            guard next != token, !page.keys.isEmpty else { throw .malformedAnswer }
            token = next
        }
        throw .tooLarge(limit: Self.maximumPageCount)
    }

    // MARK: Parts

    private static let maximumPageByteCount = 8 << 20
    /// Pages of a list, of at most a thousand names.
    private static let maximumPageCount = 1000

    private func address(_ path: String) -> String { "/\(configuration.bucket)/\(configuration.prefix)\(path)" }

    private func header(_ condition: PutCondition) -> S3Header {
        switch condition {
        case .ifAbsent: S3Header("if-none-match", "*")
        case .ifVersion(let tag): S3Header("if-match", tagForm == .asGiven ? tag.text : unquoted(tag.text))
        }
    }

    private func unquoted(_ text: String) -> String {
        text.utf8.count > 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
            ? String(text.dropFirst().dropLast()) : text
    }

    private func page(of prefix: String, after token: String?) async throws(ObjectFault) -> S3Listing {
        var query = [("list-type", "2"), ("max-keys", "1000"), ("prefix", configuration.prefix + prefix)]
        if let token { query.append(("continuation-token", token)) }
        let request = S3Request(.get, path: "/\(configuration.bucket)", query: query)
        return try await again { () async throws(ObjectFault) in
            try S3Judgement.list(try await self.ask(request, limit: Self.maximumPageByteCount))
        }
    }

    /// The paths that names in the bucket stand for, each once; names that no path can have are somebody else's.
    private func paths(_ names: [String]) -> [String] {
        let paths = Set(names.map { String($0.dropFirst(configuration.prefix.count)) }).filter(ObjectPath.isValid)
        return paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func ask(_ request: S3Request, limit: Int) async throws(ObjectFault) -> S3Answer {
        do throws(S3Silence) {
            return try await transport.send(request, limit: limit)
        } catch {
            throw error.afterReading(limit: limit)
        }
    }

    private func again<Value: Sendable>(
        _ body: @Sendable () async throws(ObjectFault) -> Value
    ) async throws(ObjectFault) -> Value {
        var failures = 0
        while true {
            do throws(ObjectFault) {
                return try await body()
            } catch {
                failures += 1
                guard error.isPassing, failures < configuration.retry.attempts, !Task.isCancelled else { throw error }
            }
            await configuration.retry.pause(failures)
        }
    }
}

extension S3Silence {
    fileprivate func afterReading(limit: Int) -> ObjectFault {
        switch self {
        case .notSent, .broken: .unavailable(.connection)
        case .deadline: .unavailable(.deadline)
        case .tooLong: .tooLarge(limit: limit)
        case .closed: .refused(.closed)
        }
    }

    fileprivate var afterWriting: ObjectFault {
        switch self {
        case .notSent: .unavailable(.connection)
        case .closed: .refused(.closed)
        case .broken, .tooLong: .outcomeUnknown(.connection)
        case .deadline: .outcomeUnknown(.deadline)
        }
    }
}

/// Why a store that speaks S3 is not used.
package enum S3OpenError: Error, Hashable, Sendable {
    case configuration(S3ConfigurationError)
    case probe(ObjectProbeError)
}
