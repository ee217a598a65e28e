// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CanaryScanner {
    /// What is found in all files below a folder, and in their names. SQLite's free pages and logs are bytes of files.
    ///
    /// - Throws: what reading a folder or file throws.
    public func findings(below folder: URL) throws -> Set<CanaryFinding> {
        var found: Set<CanaryFinding> = []
        for file in try Self.files(below: folder) {
            let name = String(file.path(percentEncoded: false).dropFirst(folder.path(percentEncoded: false).count))
            found.formUnion(findings(in: Array(name.utf8), at: "the name \(name)"))
            if file.hasDirectoryPath { continue }
            found.formUnion(findings(in: Array(try Data(contentsOf: file)), at: name))
        }
        return found
    }

    /// Regular files and folders, each once.
    private static func files(below folder: URL) throws -> [URL] {
        let keys: [URLResourceKey] = [.isRegularFileKey, .isDirectoryKey]
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: keys).flatMap {
            file in
            let values = try file.resourceValues(forKeys: Set(keys))
            if values.isDirectory == true { return [file] + (try files(below: file)) }
            return values.isRegularFile == true ? [file] : []
        }
    }

    #if os(Linux)
        /// What is found in the memory of another process: everything that it has and can write to.
        ///
        /// - Throws: what opening its memory throws, for one that is gone or not ours.
        public func findings(inMemoryOf process: Int32) throws -> Set<CanaryFinding> {
            let memory = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/mem"))
            defer { try? memory.close() }
            let maps = String(decoding: try Data(contentsOf: URL(filePath: "/proc/\(process)/maps")), as: UTF8.self)
            var found: Set<CanaryFinding> = []
            for region in maps.split(separator: "\n").compactMap(Self.writableRegion) {
                try memory.seek(toOffset: region.lowerBound)
                // Some regions cannot be read.
                guard let bytes = try? memory.read(upToCount: Int(region.count)) else { continue }
                found.formUnion(findings(in: Array(bytes), at: "memory of \(process)", inflating: false))
            }
            return found
        }

        /// `from-to rw…`
        private static func writableRegion(_ line: Substring) -> Range<UInt64>? {
            let words = line.split(separator: " ")
            guard words.count > 1, words[1].hasPrefix("rw") else { return nil }
            let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
        }
    #endif
}
