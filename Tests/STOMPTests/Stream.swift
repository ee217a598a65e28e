// SPDX-License-Identifier: Apache-2.0

import STOMP

/// What a decoder makes of `bytes` that arrive in pieces of `size`.
func decode(
    _ bytes: [UInt8], inPiecesOf size: Int = .max, limits: StompLimits = StompLimits()
) -> (elements: [StompDecoder.Element], fault: StompDecodingError?) {
    var decoder = StompDecoder(limits: limits)
    var elements: [StompDecoder.Element] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        decoder.append(rest.prefix(size))
        rest = rest.dropFirst(size)
        do throws(StompDecodingError) {
            while let element = try decoder.next() { elements.append(element) }
        } catch { return (elements, error) }
    }
    return (elements, nil)
}

/// The same for text, where `␀` is a zero byte.
func decode(_ text: String) -> (elements: [StompDecoder.Element], fault: StompDecodingError?) {
    decode(wire(text))
}

/// The bytes of a text, where `␀` is a zero byte.
func wire(_ text: String) -> [UInt8] {
    text.split(separator: "␀", omittingEmptySubsequences: false).map { Array($0.utf8) }.joined(separator: [0])
        .map { $0 }
}

/// The only frame in a text.
func frame(_ text: String) -> StompFrame? {
    let (elements, fault) = decode(text)
    guard fault == nil, elements.count == 1, case .frame(let frame) = elements[0] else { return nil }
    return frame
}

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
