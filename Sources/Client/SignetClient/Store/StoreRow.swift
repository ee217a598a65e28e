// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import TransparencyLog

/// The bytes in which the store keeps values that are not columns.
///
/// This program writes each of them for itself; any other content is ``StoreError/damaged``.
enum StoreRow {
    /// u16 number, 32-byte signing key and 32-byte hash of all keys, for each device.
    static func encode(_ devices: [PinnedDevice]) -> [UInt8] {
        var writer = ByteWriter()
        for device in devices {
            writer.write(device.number)
            writer.write(device.signingKey)
            writer.write(device.keysHash)
        }
        return writer.bytes
    }

    static func devices(_ bytes: [UInt8]) throws(StoreError) -> [PinnedDevice] {
        do {
            var reader = ByteReader(bytes)
            var devices: [PinnedDevice] = []
            while reader.remaining > 0 {
                let number = try reader.uint16()
                let signingKey = Array(try reader.bytes(32))
                devices.append(
                    PinnedDevice(number: number, signingKey: signingKey, keysHash: Array(try reader.bytes(32))))
            }
            return devices
        } catch { throw .damaged }
    }

    /// u64 count and 32-byte root.
    static func encode(_ history: LabelHead) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(history.count)
        writer.write(history.root.bytes)
        return writer.bytes
    }

    static func history(_ bytes: [UInt8]) throws(StoreError) -> LabelHead {
        do {
            var reader = ByteReader(bytes)
            let count = try reader.uint64()
            guard let root = TreeHash(try reader.bytes(TreeHash.byteCount)) else { throw StoreError.damaged }
            try reader.end()
            return LabelHead(TreeHead(size: count, root: root))
        } catch { throw .damaged }
    }

    /// u64 size, 32-byte root, u8 whether an epoch follows, its u64 number and time, u16 origin length, origin, note to
    /// the end.
    static func encode(_ view: LogView) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(view.head.size)
        writer.write(view.head.root.bytes)
        writer.write(UInt8(view.epoch == nil ? 0 : 1))
        if let epoch = view.epoch {
            writer.write(epoch.number)
            writer.write(epoch.time)
        }
        writer.write(UInt16(truncatingIfNeeded: view.origin.bytes.count))
        writer.write(view.origin.bytes)
        writer.write(view.note)
        return writer.bytes
    }

    /// - Parameter hasEpoch: whether it was written by version 2 of the store or later.
    static func view(_ bytes: [UInt8], hasEpoch: Bool = true) throws(StoreError) -> LogView {
        do {
            var reader = ByteReader(bytes)
            let size = try reader.uint64()
            let root = TreeHash(try reader.bytes(TreeHash.byteCount))
            let epoch = hasEpoch ? try Self.epoch(&reader) : nil
            let origin = try KeyName(reader.bytes(Int(reader.uint16())))
            guard let root else { throw StoreError.damaged }
            return LogView(
                uncheckedOrigin: origin, head: TreeHead(size: size, root: root), note: Array(reader.rest()),
                epoch: epoch)
        } catch { throw .damaged }
    }

    private static func epoch(_ reader: inout ByteReader) throws -> EpochMark? {
        switch try reader.uint8() {
        case 0: nil
        case 1: EpochMark(number: try reader.uint64(), time: try reader.uint64())
        default: throw StoreError.damaged
        }
    }

    /// u64 version, 32-byte hash, 32-byte commitment, u8 count of devices and their 32-byte keys, for each act.
    static func encode(_ acts: [OwnAct]) -> [UInt8] {
        var writer = ByteWriter()
        for act in acts {
            writer.write(act.version)
            writer.write(act.stateHash)
            writer.write(act.commitment.bytes)
            writer.write(UInt8(truncatingIfNeeded: act.devices.count))
            for key in act.devices { writer.write(key) }
        }
        return writer.bytes
    }

    static func acts(_ bytes: [UInt8]) throws(StoreError) -> [OwnAct] {
        do {
            var reader = ByteReader(bytes)
            var acts: [OwnAct] = []
            while reader.remaining > 0 {
                let (version, hash) = (try reader.uint64(), Array(try reader.bytes(32)))
                guard let commitment = StateCommitment(Array(try reader.bytes(32))) else { throw StoreError.damaged }
                var keys: [[UInt8]] = []
                for _ in 0..<(try reader.uint8()) { keys.append(Array(try reader.bytes(32))) }
                acts.append(OwnAct(version: version, stateHash: hash, commitment: commitment, devices: keys))
            }
            return acts
        } catch { throw .damaged }
    }

    /// u64 size and its hashes, u64 version, 32-byte state hash, u8 whether a milestone follows, its u64 index and day, and
    /// 32-byte keys to the end.
    static func encode(_ watch: OwnWatch) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(watch.history.size)
        for hash in watch.history.hashes { writer.write(hash.bytes) }
        writer.write(watch.version)
        writer.write(watch.stateHash)
        writer.write(UInt8(watch.milestone == nil ? 0 : 1))
        if let milestone = watch.milestone {
            writer.write(milestone.index)
            writer.write(milestone.day)
        }
        for key in watch.devices { writer.write(key) }
        return writer.bytes
    }

    static func watch(_ bytes: [UInt8]) throws(StoreError) -> OwnWatch {
        do {
            var reader = ByteReader(bytes)
            let size = try reader.uint64()
            var hashes: [TreeHash] = []
            for _ in 0..<size.nonzeroBitCount {
                guard let hash = TreeHash(try reader.bytes(TreeHash.byteCount)) else { throw StoreError.damaged }
                hashes.append(hash)
            }
            let (version, stateHash) = (try reader.uint64(), Array(try reader.bytes(32)))
            let milestone = try Self.milestone(&reader)
            var devices: [[UInt8]] = []
            while reader.remaining > 0 { devices.append(Array(try reader.bytes(32))) }
            guard let history = MerkleFrontier(size: size, hashes: hashes) else { throw StoreError.damaged }
            return OwnWatch(
                history: history, version: version, stateHash: stateHash, devices: devices, milestone: milestone)
        } catch { throw .damaged }
    }

    private static func milestone(_ reader: inout ByteReader) throws -> MilestoneMark? {
        switch try reader.uint8() {
        case 0: nil
        case 1: MilestoneMark(index: try reader.uint64(), day: try reader.uint64())
        default: throw StoreError.damaged
        }
    }

    /// A code and two numbers, u64 each.
    static func encode(_ fault: LogContradiction.Fault) -> [UInt8] {
        let numbers: [UInt64] =
            switch fault {
            case .rollback: [1, 0, 0]
            case .fork: [2, 0, 0]
            case .inconsistent(.shrunk(let from, let to)): [3, from, to]
            case .inconsistent(.fromEmptyTree): [4, 0, 0]
            case .inconsistent(.wrongHashCount(let expected, let actual)):
                [5, UInt64(max(0, expected)), UInt64(max(0, actual))]
            case .inconsistent(.oldRootMismatch): [6, 0, 0]
            case .inconsistent(.newRootMismatch): [7, 0, 0]
            }
        var writer = ByteWriter()
        for number in numbers { writer.write(number) }
        return writer.bytes
    }

    static func fault(_ bytes: [UInt8]) throws(StoreError) -> LogContradiction.Fault {
        do {
            var reader = ByteReader(bytes)
            let (code, first, second) = (try reader.uint64(), try reader.uint64(), try reader.uint64())
            try reader.end()
            switch code {
            case 1: return .rollback
            case 2: return .fork
            case 3: return .inconsistent(.shrunk(from: first, to: second))
            case 4: return .inconsistent(.fromEmptyTree)
            case 5:
                return .inconsistent(
                    .wrongHashCount(expected: Int(clamping: first), actual: Int(clamping: second)))
            case 6: return .inconsistent(.oldRootMismatch)
            case 7: return .inconsistent(.newRootMismatch)
            default: throw StoreError.damaged
            }
        } catch { throw .damaged }
    }
}
