import Testing

@Test func placeholderCanonicalCodingTests() {}
