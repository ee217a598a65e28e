enum PlaceholderVRF {}
