// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import PostgresStores
import S3Stores

// What is wrong with the engines that a data directory names, and what to do about it.
extension Verdict {
    static func of(_ error: S3ConfigurationError) -> Verdict {
        let words =
            switch error {
            case .endpoint: "`objects` is no address of a store, such as https://s3.example.org"
            case .plainHTTP: "`objects` is at another machine and without TLS; give an address with https"
            case .bucket: "`bucket` is no name of a bucket: 3 to 63 small letters, digits, - and ."
            case .region: "`region` is none: small letters, digits and -"
            case .prefix: "`prefix` is none: a path of at most 100 characters that ends in a slash"
            case .credentials:
                "keys/objects is missing, or has not the lines aws_access_key_id = and aws_secret_access_key ="
            case .credentialsOpenToOthers: "others can read keys/objects; make its mode 0600"
            case .certificateAuthorities: "the file that `authority` names cannot be read as certificates"
            }
        return Verdict(.misconfigured, words)
    }

    static func of(_ error: ObjectProbeError) -> Verdict {
        switch error {
        case .ignoresAbsence, .ignoresVersion:
            Verdict(
                .misconfigured,
                "the object store overwrites what is to be written only under a condition; choose one that keeps conditions"
            )
        case .refusesItsOwnTag:
            Verdict(.misconfigured, "the object store refuses to replace the version that it names itself")
        case .losesBytes: Verdict(.misconfigured, "the object store does not give back what was written")
        // It passes when the clock is set, and then a service manager has to start the program again.
        case .fault(.refused(.status(let status, code: "RequestTimeTooSkewed"))):
            Verdict(
                .tryAgain,
                "the object store refuses (HTTP \(status) RequestTimeTooSkewed): this machine's clock, or the store's, is wrong; set it by NTP, "
                    + "and try again"
            )
        case .fault(.refused(let reason)):
            Verdict(
                .misconfigured,
                "the object store refuses (\(reason)); look at keys/objects, and at the bucket's name and rights"
            )
        case .fault(let fault): Verdict(.tryAgain, "the object store does not answer as it has to: \(fault); try again")
        }
    }

    static func of(_ error: PostgresAddressError) -> Verdict {
        let words =
            switch error {
            case .malformed(let words): "`database` is no connection string of PostgreSQL: \(words)"
            case .withoutHost: "`database` names no host"
            case .service: "`database` names a service file; say host, name and user there instead"
            case .withoutVerifiedTLS(let mode):
                "`database` is at another machine, with sslmode=\(mode); it takes sslmode=verify-full"
            }
        return Verdict(.misconfigured, words)
    }
}
