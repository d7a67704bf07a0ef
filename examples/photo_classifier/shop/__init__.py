"""A shop that sorts its customers' photos by what is on them."""
