"""Language model folders: how their vectors are made, what they must hold, how they are opened."""
