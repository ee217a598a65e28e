// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PostgresStores

/// Addresses: what is refused, and what is never shown.
struct AddressTests {
    private func fault(_ text: String, _ protection: PostgresAddress.Protection = .verified) -> PostgresAddressError? {
        do { _ = try PostgresAddress(text, protection: protection) } catch { return error }
        return nil
    }

    @Test func aStringAndAURLSayTheSame() throws {
        let string = try PostgresAddress("host=db.example.org port=5433 user=signet dbname=notes password=hidden")
        #expect(try PostgresAddress("postgres://signet:hidden@db.example.org:5433/notes") == string)
        #expect(
            string.description
                == "host=db.example.org port=5433 dbname=notes user=signet sslmode=verify-full")
    }

    @Test(arguments: ["disable", "allow", "prefer", "require", "verify-ca"])
    func aNetworkIsCrossedByVerifiedTLSOnly(mode: String) throws {
        for host in ["db.example.org", "10.0.0.1", "127.0.0.1.example.org", "/tmp,db.example.org", "localhost,", "::2"]
        {
            #expect(fault("host=\(host) sslmode=\(mode)") == .withoutVerifiedTLS(mode: mode), "\(host)")
            #expect(fault("host=\(host) sslmode=\(mode)", .asSaid) == nil)
        }
        #expect(fault("host=localhost hostaddr=10.0.0.1 sslmode=\(mode)") == .withoutVerifiedTLS(mode: mode))
        #expect(fault("host=db.example.org sslmode=verify-full") == nil)
    }

    @Test func whatIsNotSaidIsVerified() throws {
        #expect(try PostgresAddress("host=db.example.org").parameters["sslmode"] == "verify-full")
    }

    @Test(arguments: ["/var/run/postgresql", "@abstract", "localhost", "127.0.0.1", "127.9.9.9", "::1", "/a,127.0.0.1"])
    func thisMachineNeedsNoTLS(host: String) throws {
        #expect(try PostgresAddress("host=\(host)").parameters["sslmode"] == "prefer")
    }

    @Test func aHostMustBeNamed() {
        for text in ["", "user=signet", "host=''", "postgres:///notes"] { #expect(fault(text) == .withoutHost) }
    }

    @Test func aServiceFileIsRefused() { #expect(fault("host=localhost service=other") == .service) }

    @Test(arguments: [
        "host=localhost password=abc secret", "host=localhost password=abc secret=1", "host=localhost password='secret",
        "postgres://signet:pa%zzsecret@localhost", "postgres://u:secret@[::1", "secret", "postgres://u:\"secret\"%zz@h",
    ])
    func noPartOfAPasswordIsInAnError(text: String) throws {
        let error = try #require(fault(text))
        guard case .malformed(let words) = error else { return #expect(Bool(false), "\(error)") }
        #expect(!words.contains("secret") && !words.isEmpty, "\(words)")
    }

    @Test func aZeroByteIsRefused() { #expect(fault("host=localhost\0sslmode=x") == .malformed("a zero byte")) }

    @Test func wordsOfTheServerAreMasked() throws {
        let address = try PostgresAddress("host=localhost password=hidden sslpassword=veiled")
        #expect(address.masked("hidden and veiled") == "… and …")
        #expect(!"\(address)".contains("hidden"))
    }
}
