import Testing

@Test func placeholderKeyTransparencyTests() {}
