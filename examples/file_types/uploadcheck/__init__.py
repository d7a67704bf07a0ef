"""What kind of file did somebody upload, whatever its name says?"""
