"""What comes over the network, and only by these commands."""
