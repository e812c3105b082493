"""The account domain: ProviderConfigs, and the objects that live directly in an account."""
