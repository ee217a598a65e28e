enum PlaceholderTransparencyLog {}
