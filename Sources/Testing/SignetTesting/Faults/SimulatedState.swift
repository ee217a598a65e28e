// SPDX-License-Identifier: Apache-2.0

/// The contents of one file, as a reader sees them and as a power cut would leave them.
struct SimulatedNode: Sendable {
    /// A change that is visible but not yet durable.
    enum Change: Sendable {
        case write([UInt8], at: Int)
        case truncate(Int)
    }

    static let sectorByteCount = 512

    var visible: [UInt8] = []
    var durable: [UInt8] = []
    var pending: [Change] = []

    mutating func change(_ change: Change) {
        Self.apply(change, to: &visible)
        pending.append(change)
    }

    mutating func synchronize() {
        for change in pending { Self.apply(change, to: &durable) }
        pending = []
    }

    /// The file after a power cut: `survives` is asked for each sector of each write.
    func crashed(_ survives: () -> Bool) -> SimulatedNode {
        var left = durable
        for change in pending.flatMap(Self.sectors) where survives() { Self.apply(change, to: &left) }
        return SimulatedNode(visible: left, durable: left)
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let size):
            bytes = [UInt8](bytes.prefix(size))
        case .write(let written, let offset):
            let end = offset + written.count
            if bytes.count < end { bytes.append(contentsOf: [UInt8](repeating: 0, count: end - bytes.count)) }
            bytes.replaceSubrange(offset..<end, with: written)
        }
    }

    private static func sectors(_ change: Change) -> [Change] {
        guard case .write(let bytes, let offset) = change else { return [change] }
        var pieces: [Change] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, ((offset + start) / sectorByteCount + 1) * sectorByteCount - offset)
            pieces.append(.write([UInt8](bytes[start..<end]), at: offset + start))
            start = end
        }
        return pieces
    }
}

/// Everything on a ``SimulatedDisk``.
struct SimulatedState: Sendable {
    /// A change of a name that is visible but not yet durable.
    enum NameChange: Sendable {
        case link(String, node: Int)
        case rename(String, String)
        case remove(String)
        case directory(String)

        var parent: String {
            switch self {
            case .link(let path, _), .rename(_, let path), .remove(let path), .directory(let path):
                path.split(separator: "/").dropLast().joined(separator: "/")
            }
        }
    }

    static let noSuchFile: Int32 = 2

    var nodes: [SimulatedNode] = []
    var names: [String: Int] = [:]
    var directories: Set<String> = []
    var isLocked = false
    private var durableNames: [String: Int] = [:]
    private var durableDirectories: Set<String> = []
    private var pendingNames: [NameChange] = []

    mutating func create(_ path: String) -> Int {
        if let node = names[path] {
            nodes[node].change(.truncate(0))
            return node
        }
        nodes.append(SimulatedNode())
        apply(.link(path, node: nodes.count - 1))
        return nodes.count - 1
    }

    mutating func apply(_ change: NameChange) {
        Self.apply(change, &names, &directories)
        pendingNames.append(change)
    }

    mutating func synchronizeNames(in directory: String) {
        for change in pendingNames where change.parent == directory {
            Self.apply(change, &durableNames, &durableDirectories)
        }
        pendingNames.removeAll { $0.parent == directory }
    }

    func paths(below prefix: String) -> [String] {
        let all = [String](names.keys) + directories
        let below = all.filter { $0.hasPrefix(prefix) && $0 != prefix }.compactMap {
            $0.dropFirst(prefix.count).split(separator: "/").first.map(String.init)
        }
        return [String](Set(below))
    }

    mutating func replace(_ path: String, _ bytes: [UInt8]?) {
        names[path] = nil
        durableNames[path] = nil
        guard let bytes else { return }
        nodes.append(SimulatedNode(visible: bytes, durable: bytes))
        names[path] = nodes.count - 1
        durableNames[path] = nodes.count - 1
    }

    /// The state with everything visible made durable, and with the lock released.
    func settled() -> SimulatedState {
        var copy = self
        copy.nodes = nodes.map { SimulatedNode(visible: $0.visible, durable: $0.visible) }
        copy.durableNames = names
        copy.durableDirectories = directories
        copy.pendingNames = []
        copy.isLocked = false
        return copy
    }

    func crashed(_ survival: SimulatedDisk.Survival) -> SimulatedState {
        var random = SplitMix64(survival)
        var copy = self
        let kept = random.count(of: pendingNames.count)
        for change in pendingNames.prefix(kept) { Self.apply(change, &copy.durableNames, &copy.durableDirectories) }
        copy.nodes = nodes.map { $0.crashed { random.survives() } }
        copy.names = copy.durableNames
        copy.directories = copy.durableDirectories
        copy.pendingNames = []
        copy.isLocked = false
        return copy
    }

    private static func apply(_ change: NameChange, _ names: inout [String: Int], _ directories: inout Set<String>) {
        switch change {
        case .link(let path, let node): names[path] = node
        case .rename(let path, let newPath): names[newPath] = names.removeValue(forKey: path) ?? names[newPath]
        case .remove(let path): names[path] = nil
        case .directory(let path): directories.insert(path)
        }
    }
}

/// Decides what survives a power cut.
private struct SplitMix64 {
    private let survival: SimulatedDisk.Survival
    private var state: UInt64

    init(_ survival: SimulatedDisk.Survival) {
        self.survival = survival
        if case .some(let seed) = survival { state = seed } else { state = 0 }
    }

    mutating func survives() -> Bool {
        switch survival {
        case .nothing: false
        case .everything: true
        case .some: next() & 1 == 1
        }
    }

    mutating func count(of total: Int) -> Int {
        switch survival {
        case .nothing: 0
        case .everything: total
        case .some: Int(next() % UInt64(total + 1))
        }
    }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
