// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog
import VRF
import VerifiableMap

// For messages whose parts throw errors of several types. Nothing that verifies a lookup needs it: in a browser there is no
// `any Error`.

extension LookupMessageError {
    /// Sorts the errors that a message's parts throw.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as LookupMessageError: error
            case let error as CanonicalCodingError: .malformed(error)
            case let error as HandleError: .invalidHandle(error)
            case let error as VRFProofError: .invalidVRFProof(error)
            case let error as MapProofError: .invalidIndexPath(error)
            default: .unknownFormat
            }
    }
}

extension ByteReader {
    mutating func path() throws(LookupMessageError) -> [TreeHash] {
        try lookupPart { reader throws(LookupMessageError) in try reader.path() }
    }

    mutating func epochRecord() throws(LookupMessageError) -> EpochRecord {
        try lookupPart { reader throws(LookupMessageError) in try reader.epochRecord() }
    }

    mutating func mapPath() throws(LookupMessageError) -> MapPath {
        try lookupPart { reader throws(LookupMessageError) in try reader.mapPath() }
    }

    mutating func absence() throws(LookupMessageError) -> MapProof {
        try lookupPart { reader throws(LookupMessageError) in try reader.absence() }
    }

    /// The next 32 bytes as a hash of some kind.
    mutating func hash<Hash>(_ make: (ArraySlice<UInt8>) -> Hash?) throws(LookupMessageError) -> Hash {
        try lookupPart { reader throws(LookupMessageError) in try reader.hash(make) }
    }

    private mutating func lookupPart<Part>(
        _ read: (inout FormatReader<LookupMessageError>) throws(LookupMessageError) -> Part
    ) throws(LookupMessageError) -> Part {
        var reader = FormatReader<LookupMessageError>(self)
        defer { self = reader.reader }
        return try read(&reader)
    }
}
