"""The self-test: mutations of weights and functions, and what each claim notices of them."""
