"""An intercom that opens its microphone only while somebody speaks."""
