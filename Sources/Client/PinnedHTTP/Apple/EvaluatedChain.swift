// SPDX-License-Identifier: Apache-2.0

#if canImport(Security) && canImport(Darwin)
    import Security

    /// Apple's verification of a chain. It yields the path that Apple built, without other certificates that the server sent.
    enum EvaluatedChain {
        /// The path, DER, the server's own certificate first; nil if the chain is not trusted for the host.
        ///
        /// The policy for the host replaces any other policy of the trust object, so that no other policy counts.
        static func certificates(of trust: SecTrust, host: String) -> [[UInt8]]? {
            let name = CFStringCreateWithCString(nil, host, CFStringBuiltInEncodings.UTF8.rawValue)
            guard SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, name)) == errSecSuccess,
                SecTrustEvaluateWithError(trust, nil), let chain = SecTrustCopyCertificateChain(trust)
            else { return nil }
            return (0..<CFArrayGetCount(chain)).compactMap { index in
                guard let pointer = CFArrayGetValueAtIndex(chain, index) else { return nil }
                return der(Unmanaged<SecCertificate>.fromOpaque(pointer).takeUnretainedValue())
            }
        }

        private static func der(_ certificate: SecCertificate) -> [UInt8] {
            let bytes = SecCertificateCopyData(certificate)
            return Array(UnsafeBufferPointer(start: CFDataGetBytePtr(bytes), count: CFDataGetLength(bytes)))
        }
    }
#endif
