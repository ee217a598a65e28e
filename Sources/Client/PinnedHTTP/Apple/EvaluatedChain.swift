#if canImport(Security) && canImport(Darwin)
    import Security

    /// Apple's verification of a chain: the path it built, and nothing that the server sent beside it.
    enum EvaluatedChain {
        /// The path, DER, the server's own certificate first; nil when the chain is not trusted for the host.
        ///
        /// The policy for the host is set anew, so that no other policy of the trust object counts.
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
