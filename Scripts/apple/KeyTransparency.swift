// A stand-in for the one name of KeyTransparency that questions to a person use.
public struct Handle: Hashable, Sendable {}
