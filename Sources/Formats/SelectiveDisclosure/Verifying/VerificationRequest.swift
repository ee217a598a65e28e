// SPDX-License-Identifier: Apache-2.0

public import StrictJSON

/// What a verifier demands of a presentation, decided before anything arrives.
///
/// Spec: RFC 9901, section 7.3; OpenID for Verifiable Presentations 1.0, section 8.6.
public struct VerificationRequest: Sendable {
    /// How the verifier requires the presenter to prove being the holder, and not just in possession of a copy.
    public struct Binding: Hashable, Sendable {
        /// Whether a presentation without the holder's signature is refused. One that is sent is verified in any case.
        public var isRequired: Bool
        /// The verifier's whole client identifier, prefix included.
        public var audience: JSONText
        /// The nonce of the request.
        public var nonce: JSONText
        /// How old the holder's signature may be, in seconds.
        public var maximumAge: Int64
        /// How far the holder's clock may be ahead, in seconds.
        public var clockSkew: Int64

        /// Demands of the holder's signature.
        public init(
            isRequired: Bool = true, audience: JSONText, nonce: JSONText, maximumAge: Int64 = 300,
            clockSkew: Int64 = 60
        ) {
            self.isRequired = isRequired
            self.audience = audience
            self.nonce = nonce
            self.maximumAge = maximumAge
            self.clockSkew = clockSkew
        }
    }

    /// The types, one of which the credential must have.
    public var types: [JSONText]
    /// Claims that must be there, each by the way to it.
    public var requiredClaims: [ClaimPath]
    /// The holder's signature.
    public var binding: Binding

    /// A request.
    public init(types: [JSONText], requiredClaims: [ClaimPath] = [], binding: Binding) {
        self.types = types
        self.requiredClaims = requiredClaims
        self.binding = binding
    }
}

/// The way to a claim from the outermost object.
///
/// Spec: OpenID for Verifiable Presentations 1.0, section 7 ("Claims Path Pointer").
public struct ClaimPath: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// One step of the way.
    public enum Step: Hashable, Sendable {
        /// To the member of this name.
        case name(JSONText)
        /// To the element at this place, from 0.
        case place(Int)
        /// To all elements.
        case all
    }

    /// The steps.
    public let steps: [Step]

    /// A way of these steps.
    public init(_ steps: [Step]) { self.steps = steps }

    /// A way through objects alone.
    public init(arrayLiteral names: JSONText...) { steps = names.map(Step.name) }

    /// Reads an array of names, numbers from 0 on and `null`; nil for anything else and for an empty array.
    public init?(_ value: JSONValue) {
        guard let elements = value.array, !elements.isEmpty else { return nil }
        var steps: [Step] = []
        for element in elements {
            switch element {
            case .string(let name): steps.append(.name(name))
            case .null: steps.append(.all)
            default:
                guard let place = element.integer, place >= 0 else { return nil }
                steps.append(.place(Int(place)))
            }
        }
        self.steps = steps
    }

    /// The values at the end of the way; none if it leads nowhere.
    public func values(in object: JSONObject) -> [JSONValue] {
        var found: [JSONValue] = [.object(object)]
        for step in steps { found = found.flatMap { Self.next($0, step) } }
        return found
    }

    private static func next(_ value: JSONValue, _ step: Step) -> [JSONValue] {
        switch step {
        case .name(let name): value.object?[name].map { [$0] } ?? []
        case .place(let place): value.array.flatMap { place < $0.count ? [$0[place]] : nil } ?? []
        case .all: value.array ?? []
        }
    }
}
