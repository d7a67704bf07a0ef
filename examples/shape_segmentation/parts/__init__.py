"""A camera over a conveyor belt: which pixels belong to a washer, a plate or a wedge?"""
