import Testing

@Test func placeholderTransparencyLogTests() {}
