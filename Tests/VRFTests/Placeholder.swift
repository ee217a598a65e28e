import Testing

@Test func placeholderVRFTests() {}
