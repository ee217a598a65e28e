// SPDX-License-Identifier: Apache-2.0

import Foundation
import SeededRandomness
import StrictJSON
import Testing

/// Exactly the texts that RFC 8259 and RFC 7493 allow.
struct JSONTests {
    func fault(_ text: String, depth: Int = 16) -> JSONFault? { fault(Array(text.utf8), depth: depth) }

    func fault(_ bytes: [UInt8], depth: Int = 16) -> JSONFault? {
        do {
            _ = try JSONValue(decoding: bytes, limits: JSONLimits(byteCount: 1_000, depth: depth))
            return nil
        } catch { return error }
    }

    @Test func theExamplesOfTheSpecificationAreRead() throws {
        // RFC 8259, section 13.
        let text = """
            {"Image": {"Width":  800, "Height": 600, "Title":  "View from 15th Floor",
             "Thumbnail": {"Url": "http://www.example.com/image/481989943", "Height": 125, "Width":  100},
             "Animated" : false, "IDs": [116, 943, 234, 38793]}}
            """
        let object = try JSONObject(decoding: Array(text.utf8))
        let image = try #require(object["Image"]?.object)
        #expect(image["IDs"]?.array?.map(\.integer) == [116, 943, 234, 38_793])
        #expect(image["Animated"] == .bool(false))
        for text in ["\"Hello world!\"", "42", "true"] { #expect(fault(text) == nil) }
    }

    @Test func escapesAreResolvedOnce() throws {
        let value = try JSONValue(decoding: Array(#""\"\\\/\b\f\n\r\t\u00e9\uD834\uDD1E""#.utf8))
        #expect(value == .string("\"\\/\u{8}\u{C}\n\r\t\u{E9}\u{1D11E}"))
        #expect(try JSONValue(decoding: Array(#""\\u0041""#.utf8)) == .string("\\u0041"))
    }

    @Test func object_refusesARepeatedName() {
        #expect(fault(#"{"a":1,"a":1}"#) == .duplicateMember)
        #expect(fault(#"{"a":1,"\u0061":2}"#) == .duplicateMember)
        #expect(fault(#"{"a":{"a":1},"A":2}"#) == nil)
    }

    @Test func canonicallyEquivalentNamesAreDifferent() throws {
        let object = try JSONObject(decoding: Array("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8))
        #expect(object.members.count == 2)
    }

    @Test func parser_refusesBytesThatAreNotUTF8() {
        #expect(fault([0xEF, 0xBB, 0xBF] + Array("{}".utf8)) == .notUTF8)
        for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3]] as [[UInt8]] {
            #expect(fault(Array("\"".utf8) + bytes + Array("\"".utf8)) == .notUTF8)
        }
    }

    @Test func string_refusesHalfASurrogatePair() {
        for text in [#""\uD800""#, #""\uDC00""#, #""\uD800\u0041""#, #""\uD800x""#, #""\uD800\uD800""#] {
            #expect(fault(text) == .loneSurrogate(offset: 1), "\(text)")
        }
    }

    @Test func parser_refusesTextOutsideTheGrammar() {
        for text in [
            "", " ", "NaN", "Infinity", "-", "01", "1.", ".5", "+1", "1e", "1e+", "0x1", "--1", "tru", "True", "nul",
            "[1,]", "[,1]", "[1 2]", "[", "]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "{1:1}",
            "\"", "\"\u{1}\"", "\"\n\"", #""\x""#, #""\u12""#, #""\u12G4""#, #""\"#, "1 2", "{} {}", "/*c*/1", "1//",
            "\u{A0}1", "\u{C}1", "1\0",
        ] {
            guard case .syntax = fault(text) else {
                Issue.record("\(text)")
                continue
            }
        }
    }

    @Test func depthAndSizeAreBounded() {
        let nested = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
        #expect(fault(nested) == nil)
        #expect(fault("[\(nested)]") == .tooDeep)
        #expect(fault("{\"a\":\(nested)}") == .tooDeep)
        #expect(fault("[[],[[]],{}]", depth: 3) == nil)
        #expect(fault([UInt8](repeating: 0x20, count: 1_001)) == .tooLong(1_001))
        #expect(JSONLimits(byteCount: 1, depth: 1_000_000).depth == 64)
    }

    @Test func numbersAreNotRounded() throws {
        for (text, value) in [
            ("0", 0), ("-1", -1), ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
            ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.0", nil), ("1e0", nil), ("-0", nil),
            ("9007199254740993", 9_007_199_254_740_993),
        ] as [(String, Int64?)] {
            let read = try JSONValue(decoding: Array(text.utf8))
            #expect(read.integer == value, "\(text)")
            #expect(read.encoded == Array(text.utf8), "\(text)")
        }
    }

    @Test func writtenJSONIsReadBack() throws {
        let value = try JSONValue(decoding: Array(#" { "b" : [ 1 , null , "\u0001\"\\é" ] , "a" : { } } "#.utf8))
        #expect(value.encoded == Array(#"{"a":{},"b":[1,null,"\u0001\"\\é"]}"#.utf8))
        #expect(try JSONValue(decoding: value.encoded) == value)
    }

    @Test func text_refusesBytesThatAreNotUTF8() {
        #expect(JSONText(utf8: [0xFF]) == nil)
        #expect(JSONText(utf8: Array("é".utf8)) == "é")
    }

    /// Foundation accepts more texts than this parser, but it accepts all texts that this parser accepts.
    @Test func foundationAcceptsEveryAcceptedText() throws {
        var generator = SeededGenerator(seed: 3)
        let seed = Array(#"{"a":[1,-2.5e3,true,null,"x\n\u00e9😀"],"b":{"c":[]}}"#.utf8)
        var taken = 0
        for _ in 0..<20_000 {
            let mutant = generator.mutant(of: seed)
            guard let value = try? JSONValue(decoding: mutant) else { continue }
            taken += 1
            #expect(try JSONValue(decoding: value.encoded) == value)
            #expect(throws: Never.self) {
                try JSONSerialization.jsonObject(with: Data(mutant), options: .fragmentsAllowed)
            }
        }
        #expect(taken > 100)
    }
}
