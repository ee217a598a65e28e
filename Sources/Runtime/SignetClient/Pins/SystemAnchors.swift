import KeyPinning
public import PinnedChains

extension TrustAnchors {
    /// The roots that this system trusts, from the first of the usual files that is there.
    ///
    /// - Returns: the anchors, and the file they came from; nil where there is no such file.
    public static func ofSystem() -> (anchors: TrustAnchors, path: String)? {
        let paths = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ]
        for path in paths {
            guard let text = try? DurableFile(path: path).read(maximumByteCount: 16_777_216),
                let certificates = try? PEMBlock.certificates(in: text)
            else { continue }
            return (TrustAnchors(readable: certificates), path)
        }
        return nil
    }
}
