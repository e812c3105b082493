"""The soak: hundreds of resources live for minutes among people, strangers, faults and restarts, and have to end as
declared, by the rules of the crash test."""
