// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import TransparencyLog

/// Inclusion and consistency cases in the schema of transparency-dev/merkle.
struct MerkleSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "merkle",
        abstract:
            "Inclusion and consistency proofs (transparency-dev/merkle JSON): a file or a folder of files.")

    @Argument(help: "A JSON file, or a folder that is searched for them.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let root = VectorFile(path)
        let files =
            root.isFolder ? root.contents.filter { $0.hasSuffix(".json") }.map(root.appending) : [root]
        var count = 0
        for file in files {
            let cases: MerkleCases = try file.json()
            for test in cases.all { test.check(&report) }
            count += cases.all.count
            if cases.subtreeCount > 0 {
                report.remark(
                    "\(file.path): \(cases.subtreeCount) subtree cases are not supported yet and were not run"
                )
            }
            count += cases.subtreeCount
        }
        guard count > 0 else { throw .noCases(path: path) }
    }
}

/// A file holds a list of cases, or a single one.
struct MerkleCases: Decodable {
    let all: [MerkleCase]
    let subtreeCount: Int

    init(from decoder: any Decoder) throws {
        let entries: [Entry]
        if var list = try? decoder.unkeyedContainer() {
            var read: [Entry] = []
            while !list.isAtEnd { read.append(try list.decode(Entry.self)) }
            entries = read
        } else {
            entries = [try Entry(from: decoder)]
        }
        all = entries.compactMap(\.test)
        subtreeCount = entries.count - all.count
    }

    /// A case of a kind we run, or nothing for a subtree case.
    private struct Entry: Decodable {
        let test: MerkleCase?

        private enum Key: String, CodingKey { case start, leafIdx }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            if fields.contains(.start) {
                test = nil
            } else if fields.contains(.leafIdx) {
                test = .inclusion(try InclusionCase(from: decoder))
            } else {
                test = .consistency(try ConsistencyCase(from: decoder))
            }
        }
    }
}

enum MerkleCase {
    case inclusion(InclusionCase)
    case consistency(ConsistencyCase)

    func check(_ report: inout VectorReport) {
        switch self {
        case .inclusion(let test):
            report.add(
                test.name ?? test.desc ?? "inclusion", valid: !test.wantErr, refusal: test.refusal,
                about: test.desc)
        case .consistency(let test):
            report.add(
                test.name ?? test.desc ?? "consistency", valid: !test.wantErr, refusal: test.refusal,
                about: test.desc)
        }
    }
}

struct InclusionCase: Decodable {
    let name: String?
    let desc: String?
    let leafIdx: UInt64
    let treeSize: UInt64
    let root: Data
    let leafHash: Data
    let proof: [Data]?
    let wantErr: Bool

    /// Why our code refuses the case; nil when it accepts it.
    var refusal: String? {
        let hashes = (proof ?? []).compactMap { TreeHash($0) }
        guard let root = TreeHash(root), let leaf = TreeHash(leafHash), hashes.count == (proof ?? []).count
        else {
            return "a hash does not have 32 bytes"
        }
        do throws(InclusionProofError) {
            try InclusionProof(index: leafIdx, hashes: hashes).verify(
                leaf: leaf, in: TreeHead(size: treeSize, root: root))
            return nil
        } catch { return "\(error)" }
    }
}

struct ConsistencyCase: Decodable {
    let name: String?
    let desc: String?
    let size1: UInt64
    let size2: UInt64
    let root1: Data
    let root2: Data
    let proof: [Data]?
    let wantErr: Bool

    /// Why our code refuses the case; nil when it accepts it.
    ///
    /// Some published cases put words where a root's value does not matter. Ours have 32 bytes by type, so a hash
    /// of the words stands for them: equal words stay equal and others stay different.
    var refusal: String? {
        func root(_ data: Data) -> TreeHash { TreeHash(data) ?? .leaf(Array(data)) }
        let hashes = (proof ?? []).compactMap { TreeHash($0) }
        guard hashes.count == (proof ?? []).count else { return "a hash does not have 32 bytes" }
        do throws(ConsistencyProofError) {
            try ConsistencyProof(hashes: hashes).verify(
                from: TreeHead(size: size1, root: root(root1)), to: TreeHead(size: size2, root: root(root2)))
            return nil
        } catch { return "\(error)" }
    }
}
