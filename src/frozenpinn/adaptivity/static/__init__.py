"""What is chosen for a static problem: features, numbers of neurons and points, where Newton's method starts."""
