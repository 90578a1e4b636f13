"""What the candidate is asked, and in which order."""
