"""The hand-held scanner of the shop: the same network in 8 bits."""
