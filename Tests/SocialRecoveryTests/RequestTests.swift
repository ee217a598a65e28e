import CanonicalCoding
import Crypto
import DeviceIdentity
import KeyTransparency
import Testing

@testable import SocialRecovery

@Suite struct RequestTests {
    let world: World
    let device = NewDevice()
    let request: RecoveryRequest

    init() throws {
        world = try World()
        request = try device.request(world.scope)
    }

    @Test func aRequestComesBack() throws {
        #expect(try RecoveryRequest(decoding: request.encoded) == request)
    }

    @Test func everyFlippedBitIsRefused() {
        let encoded = request.encoded
        for bit in stride(from: 0, to: encoded.count * 8, by: 3) {
            var changed = encoded
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: RecoveryRequestError.self) { try RecoveryRequest(decoding: changed) }
        }
    }

    @Test func aRequestIsReadWholeOrNotAtAll() {
        for cut in 0..<request.encoded.count {
            #expect(throws: RecoveryRequestError.self) {
                try RecoveryRequest(decoding: Array(request.encoded.prefix(cut)))
            }
        }
        #expect(throws: RecoveryRequestError.malformed(.malformed(.trailingBytes(1)))) {
            try RecoveryRequest(decoding: request.encoded + [0])
        }
    }

    private func made(
        created: UInt64 = 1, expires: UInt64 = 2, name: [UInt8] = [], agreement: [UInt8]? = nil,
        signer: P256.Signing.PrivateKey? = nil
    ) throws -> RecoveryRequest {
        try RecoveryRequest(
            scope: world.scope, identityKey: device.identity.publicBytes,
            agreementKey: agreement ?? device.agreement.publicBytes,
            signingKey: Array(device.signing.publicKey.rawRepresentation), reveal: device.reveal, created: created,
            expires: expires, claimedName: name, signing: (signer ?? device.identity).rawSignature)
    }

    @Test func aRequestThatEndsBeforeItBeginsIsRefused() {
        #expect(throws: RecoveryRequestError.invalidTimes) { try made(created: 2, expires: 2) }
    }

    @Test func aNameTooLongOrNoTextIsRefused() {
        #expect(throws: RecoveryRequestError.invalidName) { try made(name: [UInt8](repeating: 0x41, count: 65)) }
        #expect(throws: RecoveryRequestError.invalidName) { try made(name: [0xFF]) }
    }

    @Test func keysThatAreNoneAreRefused() {
        #expect(throws: RecoveryRequestError.invalidKey) { try made(agreement: [UInt8](repeating: 5, count: 33)) }
    }

    @Test func theNewIdentityKeyHasToSign() {
        #expect(throws: RecoveryRequestError.invalidSignature) { try made(signer: P256.Signing.PrivateKey()) }
    }

    @Test func bothSidesHaveTheSameCodeAndAStrangerHasAnother() throws {
        let number = [UInt8](repeating: 5, count: 32)
        let code = SpokenCode(request: request.hash, guardian: number, device: device.reveal)
        let stranger = try NewDevice().request(world.scope)
        #expect(code == SpokenCode(request: request.hash, guardian: number, device: device.reveal))
        #expect(code != SpokenCode(request: stranger.hash, guardian: number, device: device.reveal))
        #expect(code != SpokenCode(request: request.hash, guardian: device.reveal, device: number))
    }

    @Test func aCodeIsThreeWordsAndTwoDigits() throws {
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let number = (0..<32).map { _ in generator.next() as UInt8 }
            let code = SpokenCode(request: request.hash, guardian: number, device: device.reveal)
            let parts = code.text.split(separator: 0x20)
            #expect(parts.count == 4 && parts[3].count == 2 && parts[3].allSatisfy { (0x30...0x39).contains($0) })
            let typed = String(decoding: code.text, as: UTF8.self).uppercased().replacing(" ", with: "\n  ")
            #expect(code.matches(typed: bytes(typed)))
            #expect(!code.matches(typed: code.text.dropLast()))
            #expect(!code.matches(typed: code.text + [0x30]))
        }
    }
}

@Suite struct TimelineTests {
    let label: LabelIndex
    let one = [UInt8](repeating: 1, count: 32)
    let two = [UInt8](repeating: 2, count: 32)
    let delay: UInt32 = 1000

    init() throws { label = try #require(LabelIndex([UInt8](repeating: 3, count: 32))) }

    private func start(
        _ request: [UInt8], at time: UInt64, notBefore: UInt64? = nil, expires: UInt64? = nil
    )
        -> RecoveryLogEntry
    {
        .start(label, request: request, notBefore: notBefore ?? time + 1000, expires: expires ?? time + 5000)
    }

    private func under() throws -> RecoveryTimeline {
        var timeline = RecoveryTimeline(label: label)
        try timeline.take(start(one, at: 100), at: 100, delay: delay)
        return timeline
    }

    @Test func aStartIsInForceUntilItExpires() throws {
        let timeline = try under()
        #expect(timeline.logged(at: 100) == LoggedRecovery(uncheckedRequest: one, notBefore: 1100))
        #expect(timeline.logged(at: 5099) != nil)
        #expect(timeline.logged(at: 5100) == nil && timeline.standing(at: 5100) == .quiet)
    }

    @Test func aSecondStartIsRefusedWhileOneIsUnderWay() throws {
        var timeline = try under()
        #expect(throws: RecoveryTimelineError.anotherUnderWay) {
            try timeline.take(start(two, at: 200), at: 200, delay: delay)
        }
        try timeline.take(start(two, at: 5100), at: 5100, delay: delay)
        #expect(timeline.logged(at: 5100)?.request == two)
    }

    @Test func anObjectionEndsItAndFreezesNewOnesForADay() throws {
        var timeline = try under()
        try timeline.take(.cancel(label, request: one), at: 300, delay: delay)
        #expect(timeline.logged(at: 300) == nil && timeline.standing(at: 300) == .frozen(until: 86_700))
        #expect(throws: RecoveryTimelineError.frozen(until: 86_700)) {
            try timeline.take(start(two, at: 86_699), at: 86_699, delay: delay)
        }
        #expect(throws: RecoveryTimelineError.cancelledBefore) {
            try timeline.take(start(one, at: 86_700), at: 86_700, delay: delay)
        }
        try timeline.take(start(two, at: 86_700), at: 86_700, delay: delay)
    }

    @Test func onlyTheRequestUnderWayCanBeStopped() throws {
        var timeline = try under()
        #expect(throws: RecoveryTimelineError.nothingToCancel) {
            try timeline.take(.cancel(label, request: two), at: 200, delay: delay)
        }
        #expect(throws: RecoveryTimelineError.nothingToCancel) {
            try timeline.take(.cancel(label, request: one), at: 5100, delay: delay)
        }
        var quiet = RecoveryTimeline(label: label)
        #expect(throws: RecoveryTimelineError.nothingToCancel) {
            try quiet.take(.cancel(label, request: one), at: 1, delay: delay)
        }
    }

    @Test func aShorterDelayThanCommittedIsRefused() {
        var timeline = RecoveryTimeline(label: label)
        #expect(throws: RecoveryTimelineError.tooEarly(earliest: 1100)) {
            try timeline.take(start(one, at: 100, notBefore: 1099), at: 100, delay: delay)
        }
        #expect(throws: RecoveryTimelineError.tooEarly(earliest: .max)) {
            try timeline.take(start(one, at: 100), at: .max, delay: delay)
        }
    }

    @Test func aRequestThatLivesLongerThanAWeekAfterTheDelayIsRefused() throws {
        var timeline = RecoveryTimeline(label: label)
        let latest: UInt64 = 100 + 1000 + 7 * 86_400
        #expect(throws: RecoveryTimelineError.livesTooLong(latest: latest)) {
            try timeline.take(start(one, at: 100, expires: latest + 1), at: 100, delay: delay)
        }
        try timeline.take(start(one, at: 100, expires: latest), at: 100, delay: delay)
    }

    @Test func anEntryOfAnotherAccountIsRefused() throws {
        let other = try #require(LabelIndex([UInt8](repeating: 4, count: 32)))
        var timeline = RecoveryTimeline(label: label)
        #expect(throws: RecoveryTimelineError.anotherAccount) {
            try timeline.take(.cancel(other, request: one), at: 1, delay: delay)
        }
    }

    @Test func entriesComeBackAndNothingElseDoes() throws {
        for entry in [start(one, at: 100), .cancel(label, request: two)] {
            #expect(try RecoveryLogEntry(decoding: entry.entry) == entry)
            for cut in 0..<entry.entry.count {
                #expect(throws: RecoveryFormatError.self) {
                    try RecoveryLogEntry(decoding: Array(entry.entry.prefix(cut)))
                }
            }
            for other in [entry.entry + [0x0A], entry.entry + bytes("1\n"), [0x0A] + entry.entry] {
                #expect(throws: RecoveryFormatError.self) { try RecoveryLogEntry(decoding: other) }
            }
        }
        #expect(throws: RecoveryFormatError.invalidField) {
            try RecoveryLogEntry(decoding: start(one, at: 1, notBefore: 9, expires: 9).entry)
        }
    }
}

@Suite struct ObjectionTests {
    let world: World
    let request: RecoveryRequest

    init() throws {
        world = try World()
        request = try NewDevice().request(world.scope)
    }

    private func objection(
        _ signer: Curve25519.Signing.PrivateKey? = nil, request: [UInt8]? = nil, device: UInt16 = 1
    ) throws -> RecoveryObjection {
        try RecoveryObjection(
            label: world.label, request: request ?? self.request.hash, device: device, time: World.now
        ) { Array(try (signer ?? world.device).signature(for: $0)) }
    }

    private func verify(_ objection: RecoveryObjection) throws -> RecoveryLogEntry {
        try objection.verify(by: world.state, against: world.timeline(request), at: World.now + 10)
    }

    @Test func aLivingDeviceStopsARecovery() throws {
        var timeline = try world.timeline(request)
        let read = try RecoveryObjection(decoding: objection().encoded)
        try timeline.take(verify(read), at: World.now + 10, delay: World.delay)
        #expect(timeline.logged(at: World.afterDelay) == nil)
    }

    @Test func nobodyElseDoes() throws {
        #expect(throws: RecoveryObjectionError.invalidSignature) { try verify(objection(.init())) }
        #expect(throws: RecoveryObjectionError.noSuchDevice(2)) { try verify(objection(device: 2)) }
        #expect(throws: RecoveryObjectionError.noSuchRequest) {
            try verify(objection(request: [UInt8](repeating: 1, count: 32)))
        }
    }

    @Test func everyFlippedBitIsRefused() throws {
        let encoded = try objection().encoded
        for bit in 0..<(encoded.count * 8) {
            var changed = encoded
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: (any Error).self) { try verify(RecoveryObjection(decoding: changed)) }
        }
        #expect(throws: RecoveryFormatError.self) { try RecoveryObjection(decoding: encoded + [0]) }
    }
}
