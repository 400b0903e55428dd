"""awareness-core: the domain of a security-awareness service, free of any framework, database or network."""
