"""What has been spent, and what may still be."""
