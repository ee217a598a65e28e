enum PlaceholderKeyTransparency {}
