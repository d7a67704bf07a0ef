"""A camera over a turnstile: where are faces, and how sure is the network?"""
