"""The deployment as far as it can be known without an account: the template, the build, the built function."""
