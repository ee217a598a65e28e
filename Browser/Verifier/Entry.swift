// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import TransparencyLog
import VRF
import VerifiableMap

/// tlog-proof. Input: policy, entry, proof. Result: 0 accepted, else the step that refused: 1 call, 2 policy, 3 form,
/// 4 checkpoint, 5 log signature, 6 cosignature, 7 quorum, 8 inclusion.
@_cdecl("signet_tlog_proof") public func signetTlogProof() -> Int32 {
    output = []
    var fields = Fields()
    let policyText, entry, proofText: [UInt8]
    do throws(CanonicalCodingError) {
        policyText = try fields.bytes()
        entry = try fields.bytes()
        proofText = try fields.bytes()
        try fields.reader.end()
    } catch { return 1 }
    guard let policy = try? Policy(decoding: policyText) else { return 2 }
    guard let proof = try? TlogProof(decoding: proofText) else { return 3 }
    do throws(TlogProofVerificationError) {
        let verified = try proof.verify(entry: entry, policy: policy)
        var writer = ByteWriter()
        writer.write(proof.inclusion.index)
        writer.write(verified.checkpoint.head.size)
        writer.write(verified.checkpoint.head.root.bytes)
        writer.write(verified.quorumTime ?? 0)
        output = writer.bytes
        return 0
    } catch {
        switch error {
        case .inclusion: return 8
        case .checkpoint(let fault): return fault.step
        }
    }
}

/// A lookup. Input: policy, VRF key, handle, answer; u64 now, maximum age, clock skew; known log (origin, or empty) u64
/// size, root, u64 epoch, u64 time; known label u64 count, root. Result: 0 refused, 1 registered, 2 closed, 3 absent,
/// -1 the call itself is malformed.
@_cdecl("signet_lookup") public func signetLookup() -> Int32 {
    output = []
    var fields = Fields()
    let policyText, vrf, name, answer, origin, root, labelRoot: [UInt8]
    let now, age, skew, size, number, time, count: UInt64
    do throws(CanonicalCodingError) {
        policyText = try fields.bytes()
        vrf = try fields.bytes()
        name = try fields.bytes()
        answer = try fields.bytes()
        now = try fields.reader.uint64()
        age = try fields.reader.uint64()
        skew = try fields.reader.uint64()
        origin = try fields.bytes()
        size = try fields.reader.uint64()
        root = try fields.bytes()
        number = try fields.reader.uint64()
        time = try fields.reader.uint64()
        count = try fields.reader.uint64()
        labelRoot = try fields.bytes()
        try fields.reader.end()
    } catch { return -1 }
    guard let policy = try? Policy(decoding: policyText), let key = try? VRFPublicKey(vrf),
        let handle = try? Handle(canonical: name)
    else { return -1 }
    var view: LogView?
    if !origin.isEmpty {
        guard let keyName = try? KeyName(origin), let root = TreeHash(root) else { return -1 }
        let mark = number > 0 ? EpochMark(number: number, time: time) : nil
        view = LogView(uncheckedOrigin: keyName, head: TreeHead(size: size, root: root), note: [], epoch: mark)
    }
    var history: LabelHead?
    if !labelRoot.isEmpty {
        guard let root = TreeHash(labelRoot) else { return -1 }
        history = LabelHead(TreeHead(size: count, root: root))
    }
    let verifier = LookupVerifier(
        trust: DirectoryTrust(
            policy: policy, vrfKey: key, freshness: FreshnessRule(maximumAge: age, warningAge: age, clockSkew: skew)))
    var writer = ByteWriter()
    do throws(LookupError) {
        let found = try verifier.verify(answer, for: handle, knowing: view, history: history, at: now)
        // checks: refused by 0; all thirteen passed
        writer.write(UInt8(0))
        writer.write(UInt16(0x1FFF))
        let epoch = found.epoch
        writer.write(epoch.age)
        write(epoch.view.origin.bytes, to: &writer)
        writer.write(epoch.view.head.size)
        writer.write(epoch.view.head.root.bytes)
        writer.write(epoch.record.number)
        writer.write(epoch.record.time)
        write(epoch.view.note, to: &writer)
        let outcome: Int32
        switch found {
        case .registered(let lookup):
            writer.write(lookup.state.version)
            writer.write(lookup.history.count)
            writer.write(lookup.history.root.bytes)
            writer.write(lookup.state.hash)
            write(lookup.state.encoded, to: &writer)
            outcome = 1
        case .closed(let closure):
            writer.write(closure.version)
            writer.write(closure.history.count)
            writer.write(closure.history.root.bytes)
            outcome = 2
        case .absent: outcome = 3
        }
        output = writer.bytes
        return outcome
    } catch {
        var passed: UInt16 = 0
        for check in LookupCheck.allCases where error.wasPassed(check) { passed |= 1 << UInt16(check.rawValue - 1) }
        writer.write(UInt8(truncatingIfNeeded: error.check.rawValue))
        writer.write(passed)
        output = writer.bytes
        return 0
    }
}
