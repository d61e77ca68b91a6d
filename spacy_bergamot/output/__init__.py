"""What linked documents are written as."""
